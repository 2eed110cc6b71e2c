/** Markdown as GitHub reads it. */

/**
 * Text of ours as Markdown: `code` in backticks stays code, and what else means something to Markdown is shown as it is.
 * An underscore inside a word means nothing.
 */
export function prose(text: string): string {
  const parts = text.split('`')
  // A backtick without a partner is text.
  if (parts.length % 2 === 0) return escaped(text)
  return parts.map((part, i) => (i % 2 === 1 ? `\`${part}\`` : escaped(part))).join('')
}

function escaped(text: string): string {
  return text.replace(/[\\`*<>[\]~]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\$&')
}

/** `name` as code, also when it holds backticks. */
export function code(text: string): string {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``
}

/** The text in a block of its own, fenced with more backticks than it holds. */
export function fenced(language: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}${language}\n${text}\n${fence}\n`
}

/** A table under its title ('' for none); nothing without rows. Cells are Markdown, here made to stay in their cell. */
export function table(title: string, head: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return ''
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replace(/(?<!\\)\|/g, '\\|').replaceAll('\n', ' ')).join(' | ')} |`
  const name = title === '' ? '' : `**${title}**\n\n`
  return `${name}${line(head)}\n${line(head.map(() => '---'))}\n${rows.map(line).join('\n')}\n`
}
