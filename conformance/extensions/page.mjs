export const page = () => "";
