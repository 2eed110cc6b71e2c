export interface JsonToken {
  readonly kind: 'key' | 'string' | 'number' | 'word' | 'plain'
  readonly text: string
}

const PARTS = /("(?:[^"\\]|\\.)*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|\b(true|false|null)\b/g

/** JSON as pieces to colour. Text that is not JSON comes back whole in its pieces, too. */
export function jsonTokens(text: string): JsonToken[] {
  const tokens: JsonToken[] = []
  let end = 0
  for (const match of text.matchAll(PARTS)) {
    if (match.index > end) tokens.push({ kind: 'plain', text: text.slice(end, match.index) })
    const [whole, string, colon, number] = match
    if (string !== undefined && colon !== undefined)
      tokens.push({ kind: 'key', text: string }, { kind: 'plain', text: colon })
    else tokens.push({ kind: string ? 'string' : number ? 'number' : 'word', text: whole })
    end = match.index + whole.length
  }
  if (end < text.length) tokens.push({ kind: 'plain', text: text.slice(end) })
  return tokens
}

/** A value as JSON that fits one line of a table, cut at `length` characters. */
export function shortJson(value: unknown, length = 80): string {
  if (value === undefined) return ''
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  const line = text.replace(/\s+/g, ' ')
  return line.length > length ? `${line.slice(0, length - 1)}…` : line
}
