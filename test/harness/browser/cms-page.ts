/** The first message of the popup, which the CMS repeats. */
export const greeting = 'authorizing:github';

/** The reaction of a CMS to a message, as JavaScript. */
export const repeatGreeting = `if (data === '${greeting}') popup.postMessage(data, origin);`;

/**
 * A page that opens the popup of a CMS, and keeps and shows the messages that it gets.
 *
 * @param onMessage what it does on each of them, as JavaScript
 */
export function cmsPage(relay: string, onMessage: string): string {
  return `<!doctype html>
<link rel="icon" href="data:,">
<title>A page</title>
<button>Log in</button>
<p></p>
<script>
  const messages = [];
  let popup;
  document.querySelector('button').onclick = () => {
    popup = open('${relay}/auth?provider=github&site_id=x&scope=repo', 'auth', 'width=600,height=700');
  };
  addEventListener('message', ({ origin, data }) => {
    messages.push([origin, data]);
    document.querySelector('p').textContent = messages.join(' ');
    ${onMessage}
  });
</script>`;
}
