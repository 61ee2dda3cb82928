// What `with { type: "text" }` (its content) and `with { type: "file" }` (its path) import.
// Bun's own types know *.txt; an *.html imported as text needs a cast, since they make it a page.

declare module "*.css" {
  const asset: string;
  export default asset;
}

declare module "*.md" {
  const asset: string;
  export default asset;
}

declare module "*.png" {
  const asset: string;
  export default asset;
}

declare module "*.svg" {
  const asset: string;
  export default asset;
}

declare module "*.woff2" {
  const asset: string;
  export default asset;
}
