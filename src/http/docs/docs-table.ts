import { type Html, html } from './html.ts'

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
