/**
 * What setup shows: the form, the refusals, and what to do next.
 *
 * @module
 */

import type { Problem } from "../plugin/problem.ts";
import { type Html, html } from "./html.ts";
import { code, page, program } from "./page.ts";

/** What somebody has typed, to be shown again. The password is not. */
export interface Typed {
  readonly account: string;
  readonly email: string;
}

/** What the form shows. */
export interface FormOptions {
  readonly token: string;
  readonly typed: Typed;
  readonly status: number;
  readonly problem?: Problem;
}

/** The form, with what is wrong at its field. */
export function form({ token, typed, status, problem }: FormOptions): Response {
  const faults = new Map(problem?.details.map(({ field, message }) => [field, message]));
  // A problem with no field of its own is about who it is: the address.
  if (problem !== undefined && faults.size === 0) faults.set("email", problem.message);
  const attributes = { account: typed.account, email: typed.email };
  return page({
    title: problem === undefined ? "Set up Innkeep" : "Error: set up Innkeep",
    status,
    secret: true,
    body: html`<main class="narrow">
      <h1>Make the first account</h1>
      <p class="lead">You become its owner. This link works once.</p>
      <form method="post" action="/setup?token=${encodeURIComponent(token)}">
        ${field({
          name: "account",
          label: "Account name",
          hint: "Your business, as guests and your team see it.",
          fault: faults.get("account"),
          focus: faults.size === 0,
          input: html`type="text" value="${attributes.account}" maxlength="120"
          autocomplete="organization"`,
        })}
        ${field({
          name: "email",
          label: "Your e-mail address",
          fault: faults.get("email"),
          input: html`type="email" value="${attributes.email}" maxlength="254"
          autocomplete="username"`,
        })}
        ${field({
          name: "password",
          label: "Password",
          hint: "10 characters or more.",
          fault: faults.get("password"),
          input: html`type="password" minlength="10" maxlength="200" autocomplete="new-password"`,
        })}
        <button type="submit">Make the account</button>
      </form>
    </main>`,
  });
}

interface FieldOptions {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly fault: string | undefined;
  readonly focus?: boolean;
  readonly input: Html;
}

function field({ name, label, hint, fault, focus = false, input }: FieldOptions): Html {
  const notes = [
    ...(hint === undefined ? [] : [`${name}-hint`]),
    ...(fault === undefined ? [] : [`${name}-fault`]),
  ];
  return html`<div class="field">
    <label for="${name}">${label}</label>
    ${hint === undefined ? undefined : html`<p class="hint" id="${name}-hint">${hint}</p>`}
    <input
      id="${name}"
      name="${name}"
      ${input}
      required${notes.length === 0 ? undefined : html` aria-describedby="${notes.join(" ")}"`}${
        fault === undefined ? undefined : html` aria-invalid="true"`
      }${focus || fault !== undefined ? html` autofocus` : undefined}
    />
    ${fault === undefined ? undefined : html`<p class="fault" id="${name}-fault">${fault}</p>`}
  </div>`;
}

const setupCommand = `${program} setup --account NAME \\
  --email ADDRESS --password …`;

const refusals = {
  used: {
    status: 410,
    title: "There is an account already",
    text: "This link makes the first account, and nobody can make that any more. Further accounts are made on the command line:",
    command: setupCommand,
  },
  unknown: {
    status: 404,
    title: "This link does not work",
    text: "A part of it may be missing, or the server was started again, which makes a new link. Take the latest from the server's log, or set up on the command line:",
    command: setupCommand,
  },
  foreign: {
    status: 403,
    title: "This form came from elsewhere",
    text: "Another site has sent it, so nothing was done. Open the setup link from the server's log yourself.",
    command: undefined,
  },
} as const;

/** Says why nothing was done. */
export function declined(why: keyof typeof refusals): Response {
  const { status, title, text, command } = refusals[why];
  return page({
    title,
    status,
    secret: true,
    body: html`<main class="narrow">
      <h1>${title}</h1>
      <p class="lead">${text}</p>
      ${command === undefined ? undefined : code(command)}
      <p><a href="/">Back to the first page</a></p>
    </main>`,
  });
}

/** What to do next. */
export function done(account: string): Response {
  return page({
    title: "Innkeep is set up",
    secret: true,
    body: html`<main class="narrow">
      <h1>${account} is set up</h1>
      <p class="lead">Keep your password: this link is used up.</p>
      <h2>Next: make a key</h2>
      <p>A key lets programs and assistants in. On the server, in the folder of Innkeep:</p>
      ${code(`${program} keys create \\\n  --label "First key" --scopes "*"`)}
      <p>
        It is shown once. <code>"*"</code> stands for all rights; name scopes, such as
        <code>"listings:read,listings:write"</code>, for a key with less.
      </p>
      <h2>Then: use it</h2>
      <p class="links">
        <a class="button" href="/docs">API reference</a><a href="/">First steps</a>
      </p>
    </main>`,
  });
}
