// Sees and changes requests on their way.
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

export default function (pi: ExtensionAPI) {
  pi.on("before_provider_headers", (event) => {
    event.headers["x-probe"] = "one";
    event.headers["x-of-model"] = null;
  });
  pi.on("before_provider_headers", (event) => void (event.headers["x-probe"] += " two"));
  pi.on("before_provider_request", (event) => ({ ...(event.payload as object), metadata: { user_id: "returned" } }));
  pi.on("before_provider_request", (event) => {
    const payload = event.payload as { metadata: { user_id: string } };
    payload.metadata = { user_id: `${payload.metadata.user_id}, changed in place` };
  });
  pi.on("after_provider_response", (event, ctx) => ctx.ui.notify(`${event.status} ${event.headers["x-test"]}`, "info"));
}
