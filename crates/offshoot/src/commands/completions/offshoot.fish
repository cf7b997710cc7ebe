# Completions of offshoot for fish.

function __offshoot_candidates
    set --local words (commandline --cut-at-cursor --current-process --tokenize)
    set --local typed (commandline --cut-at-cursor --current-token)
    # An open quote cannot be unescaped.
    set --local plain (string unescape -- "$typed"; or string trim --left --chars='\'"' -- "$typed")
    command offshoot completions -- $words "$plain" 2>/dev/null
end

complete --command offshoot --no-files --keep-order --arguments '(__offshoot_candidates)'
