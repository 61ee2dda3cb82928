// Files that are imported as they are.

declare module "*.css" {
  const text: string;
  export default text;
}

declare module "*.svg" {
  const text: string;
  export default text;
}

/** A script for the browser, as text. */
declare module "*.browser.js" {
  const text: string;
  export default text;
}

/** The viewer of the reference: the path of its file. */
declare module "*/standalone.js" {
  const path: string;
  export default path;
}
