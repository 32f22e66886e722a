import type { Locator, Page } from 'playwright-core';

/** Gives consent, unless the server remembers it from before and leads back without asking. */
export async function consent(page: Page, button: Locator): Promise<void> {
  const { origin } = new URL(page.url());
  const asked = button.waitFor().then(() => true);
  const left = page.waitForURL((url) => url.origin !== origin).then(() => false);
  // The other one fails when the page closes: by then it does not matter any more.
  for (const either of [asked, left]) either.catch(() => {});
  if (await Promise.race([asked, left])) await button.click();
}
