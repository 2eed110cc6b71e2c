/**
 * The parts of a header that other servers send, such as `link` and `content-disposition`: read character by character, so
 * that no header takes longer than its length.
 */

/** Splits at the separator where it is neither between `"` nor between `<` and `>`. Parts are trimmed. */
export function headerParts(text: string, separator: ',' | ';'): readonly string[] {
  const parts: string[] = []
  let inside: '"' | '>' | undefined
  let start = 0
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at]
    if (inside === '"' && char === '\\') at += 1
    else if (inside !== undefined) inside = char === inside ? undefined : inside
    else if (char === '"') inside = '"'
    else if (char === '<') inside = '>'
    else if (char === separator) {
      parts.push(text.slice(start, at).trim())
      start = at + 1
    }
  }
  return [...parts, text.slice(start).trim()]
}

/** Values of `name=value` and `name="value"`, by lower-case name. The first one of a name counts. */
export function headerParameters(parts: readonly string[]): ReadonlyMap<string, string> {
  const values = new Map<string, string>()
  for (const part of parts) {
    const equals = part.indexOf('=')
    const name = part.slice(0, equals).trim().toLowerCase()
    if (equals > 0 && !values.has(name)) values.set(name, unquoted(part.slice(equals + 1).trim()))
  }
  return values
}

function unquoted(text: string): string {
  return text.length > 1 && text.startsWith('"') && text.endsWith('"')
    ? text.slice(1, -1).replace(/\\(.)/g, '$1')
    : text
}
