/**
 * The pages for people, in a browser.
 */

import { afterAll, describe, expect, test } from "bun:test";

import type { Page } from "playwright-core";

import { newSetupLink } from "../../core/identity/mod.ts";
import { browserless, closeBrowser, listen, type Listening, patience, visit } from "./browser.ts";

afterAll(closeBrowser, patience);

const look = (name: string, body: () => Promise<void>): void =>
  test.skipIf(browserless)(name, body, patience);

const setupLink = async ({ server }: Listening): Promise<string> =>
  (await newSetupLink(server.app)) ?? "";

/** What the browser knows of the element that has the focus. */
const focused = (page: Page, property: string): Promise<unknown> =>
  page.evaluate(`document.activeElement.${property}`);

describe("the first page", () => {
  for (const width of [390, 1280]) {
    for (const dark of [false, true]) {
      look(
        `tells a newcomer what to do, ${width} pixels wide, ${dark ? "dark" : "light"}`,
        async () => {
          await using here = await listen();
          await using tab = await visit(here, { width, dark });
          const { page } = tab;
          await page.goto("/");
          await page.getByRole("heading", { name: "There is no account yet" }).waitFor();
          await page.getByRole("status").getByText("Ready", { exact: true }).waitFor();
          expect(await page.getByRole("button", { name: "Copy" }).count()).toBe(4);

          expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
          const colour = String(await page.evaluate("getComputedStyle(document.body).color"));
          const [red = 0] = /\d+/.exec(colour)?.map(Number) ?? [];
          expect(red > 128).toBe(dark);
          expect(tab.faults).toEqual([]);
          expect(tab.strays).toEqual([]);
        },
      );
    }
  }

  look("leads to the reference and to what assistants read", async () => {
    await using here = await listen();
    await using tab = await visit(here);
    const { page } = tab;
    await page.goto("/");
    await page.getByRole("link", { name: "llms.txt" }).click();
    await page.waitForURL("/llms.txt");
    expect(await page.locator("body").innerText()).toStartWith("# Innkeep");
    await page.goBack();
    await page.getByRole("link", { name: "API reference" }).click();
    await page.waitForURL("/docs");
    await page.getByRole("heading", { name: "Innkeep", level: 1 }).waitFor();
    expect(tab.faults).toEqual([]);
    expect(tab.strays).toEqual([]);
  });

  look("knows that there is an account", async () => {
    await using here = await listen();
    await here.server.account("Lake homes");
    await using tab = await visit(here, { scripts: false });
    await tab.page.goto("/");
    await tab.page.getByText("Running · There is an account").waitFor();
    expect(await tab.page.getByText("There is no account yet").count()).toBe(0);
    expect(tab.faults).toEqual([]);
  });
});

describe("setup", () => {
  for (const scripts of [true, false]) {
    const how = scripts ? "with the keyboard alone" : "with the keyboard alone and without scripts";
    look(`makes the first account ${how}, once`, async () => {
      await using here = await listen();
      const { server } = here;
      const link = await setupLink(here);
      await using tab = await visit(here, { scripts });
      const { page } = tab;
      await page.goto(link);
      // The first field has the focus by itself.
      await page.locator("#account:focus").waitFor();
      await page.keyboard.type("Lake <homes>");
      await page.keyboard.press("Tab");
      await page.keyboard.type("Ada@example.com");
      await page.keyboard.press("Tab");
      await page.keyboard.type("correct horse battery");
      await page.keyboard.press("Enter");
      await page.getByRole("heading", { name: "Lake <homes> is set up" }).waitFor();

      const [[account], [user], members] = [
        await server.rows("identity_accounts"),
        await server.rows("identity_users"),
        await server.rows("identity_memberships"),
      ];
      expect(account).toMatchObject({ name: "Lake <homes>" });
      expect(user).toMatchObject({ email: "ada@example.com" });
      expect(await Bun.password.verify("correct horse battery", user.password_hash)).toBe(true);
      expect(members).toMatchObject([{ account_id: account.id, user_id: user.id, role: "owner" }]);
      expect(tab.faults).toEqual([]);

      const again = await page.goto(link);
      expect(again?.status()).toBe(410);
      await page.getByRole("heading", { name: "There is an account already" }).waitFor();
      expect(await page.locator("form").count()).toBe(0);
      expect(await server.rows("identity_accounts")).toHaveLength(1);
      expect(tab.strays).toEqual([]);
    });
  }

  look("says at its field what is wrong, and keeps what was typed but the password", async () => {
    await using here = await listen();
    await using tab = await visit(here);
    const { page } = tab;
    const at = (label: string) => page.getByLabel(label, { exact: true });
    await page.goto(await setupLink(here));
    await at("Account name").fill("Lake homes");
    // A browser takes this for an address; the server does not.
    await at("Your e-mail address").fill("ada@localhost");
    await at("Password").fill("correct horse battery");
    await page.getByRole("button", { name: "Make the account" }).click();
    await page.getByText('"ada@localhost" is no e-mail address').waitFor();
    expect(await focused(page, "id")).toBe("email");
    expect(await focused(page, "getAttribute('aria-describedby')")).toBe("email-fault");
    expect(await at("Account name").inputValue()).toBe("Lake homes");
    expect(await at("Your e-mail address").inputValue()).toBe("ada@localhost");
    expect(await at("Password").inputValue()).toBe("");

    await at("Your e-mail address").fill("ada@example.com");
    await at("Password").pressSequentially("short");
    await page.keyboard.press("Enter");
    // The browser holds it back itself, until it is told not to.
    expect(await focused(page, "id")).toBe("password");
    expect(await focused(page, "validity.tooShort")).toBe(true);
    await page.evaluate("document.forms[0].noValidate = true");
    await page.keyboard.press("Enter");
    await page.getByText("The password must have at least 10 characters").waitFor();
    expect(await focused(page, "id")).toBe("password");
    expect(await focused(page, "getAttribute('aria-invalid')")).toBe("true");
    expect(await at("Your e-mail address").inputValue()).toBe("ada@example.com");
    expect(await at("Password").inputValue()).toBe("");
    expect(await page.content()).not.toContain("short");
    expect(await here.server.rows("identity_accounts")).toEqual([]);
    // Chromium tells of each answer that refuses.
    const refused = expect.stringContaining("status of 422");
    expect(tab.faults).toEqual([refused, refused]);
    expect(tab.strays).toEqual([]);
  });
});

describe("the reference", () => {
  look("shows operations and webhooks, finds them, and asks no other address", async () => {
    await using here = await listen();
    await using tab = await visit(here);
    const { page } = tab;
    await page.goto("/docs");
    await page.getByRole("link", { name: "Reservations", exact: true }).click();
    await page.getByText("/v1/reservations/{id}/cancel").first().waitFor();
    await page.getByRole("link", { name: "Webhooks", exact: true }).click();
    await page.getByRole("heading", { name: "Webhooks", exact: true }).waitFor();
    await page.getByText("/v1/webhooks/test").first().waitFor();
    await page.getByRole("link", { name: /^A subscription was made/ }).waitFor();

    await page.keyboard.press("Control+k");
    const search = page.getByRole("dialog");
    await search.getByRole("combobox").fill("reschedule");
    await search.getByText("/v1/reservations/{id}/reschedule").waitFor();
    expect(tab.faults).toEqual([]);
    expect(tab.strays).toEqual([]);
  });
});
