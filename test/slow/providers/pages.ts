import type { Locator, Page } from 'playwright-core';

/** Gives consent, unless the server remembers an earlier consent and redirects at once. */
export async function consent(page: Page, button: Locator): Promise<void> {
  const { origin } = new URL(page.url());
  const asked = button.waitFor().then(() => true);
  const left = page.waitForURL((url) => url.origin !== origin).then(() => false);
  // The other promise rejects when the page closes. That does not matter.
  for (const either of [asked, left]) either.catch(() => {});
  if (await Promise.race([asked, left])) await button.click();
}
