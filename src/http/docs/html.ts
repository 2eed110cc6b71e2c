/** HTML that is safe to send: made by {@link html} only. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Part = Html | string | number | undefined | readonly Part[]

/** Template tag that escapes everything put into it, unless it is HTML already. Lists are joined, undefined is nothing. */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(strings.reduce((text, string, i) => text + rendered(parts[i - 1]) + string))
}

function rendered(part: Part): string {
  if (part === undefined) return ''
  if (part instanceof Html) return part.text
  if (typeof part === 'object') return part.map(rendered).join('')
  return escaped(String(part))
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character)
}

/** Text with `code` in backticks and paragraphs at empty lines, which is all the markup our descriptions use. */
export function prose(text: string): Html {
  const paragraphs = text.split(/\n{2,}/).map((paragraph) => html`<p>${inlineCode(paragraph)}</p>`)
  return html`${paragraphs}`
}

export function inlineCode(text: string): Html {
  const parts = text.split('`').map((part, i) => (i % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))
  return html`${parts}`
}

/** A table whose first cells are the headings of their rows. The last column is left out if it is empty in every row. */
export function docsTable(columns: readonly string[], rows: readonly (readonly Html[])[]): Html {
  const shown = rows.every((row) => row.at(-1)?.text === '') ? columns.slice(0, -1) : columns
  return html`
    <table>
      <thead><tr>${shown.map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
      <tbody>${rows.map(
        ([heading, ...cells]) => html`<tr>
          <th scope="row">${heading}</th>
          ${cells.slice(0, shown.length - 1).map((cell) => html`<td>${cell}</td>`)}
        </tr>`,
      )}</tbody>
    </table>`
}
