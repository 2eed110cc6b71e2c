/** What the parts of an expression are, to colour them. Any text at all, finished or not. */
export type TokenKind = 'text' | 'number' | 'constant' | 'function' | 'field' | 'name' | 'mark'

export interface Token {
  readonly kind: TokenKind
  readonly start: number
  readonly end: number
}

const pattern =
  /(?<text>'(?:\\[\s\S]|[^'\\])*'?|"(?:\\[\s\S]|[^"\\])*"?)|(?<number>\d[\d_]*(?:\.\d*)?(?:e[+-]?\d+)?)|(?<word>[A-Za-z_$][\w$]*)|(?<mark>=>|[?:+\-*/%!&|<>=.,]+)/giy

/** Tokens in their order; spaces and brackets are none. */
export function tokensIn(text: string): Token[] {
  const tokens: Token[] = []
  // Depths of braces at which a template goes on.
  const templates: number[] = []
  let depth = 0
  let at = 0
  while (at < text.length) {
    const char = text.charAt(at)
    if (char === '`' || (char === '}' && templates.at(-1) === depth)) {
      if (char === '}') {
        templates.pop()
        depth -= 1
      }
      const end = templateEnd(text, at + 1)
      tokens.push({ kind: 'text', start: at, end })
      if (text.startsWith('${', end - 2)) {
        depth += 1
        templates.push(depth)
      }
      at = end
      continue
    }
    if (char === '{') depth += 1
    if (char === '}') depth -= 1
    const found = tokenAt(text, at)
    if (found) tokens.push(found)
    at = found?.end ?? at + 1
  }
  return tokens
}

/** Behind the closing quote, or behind the `${` of the next value. */
function templateEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    const char = text[at]
    if (char === '\\') at += 1
    else if (char === '`') return at + 1
    else if (char === '$' && text[at + 1] === '{') return at + 2
  }
  return text.length
}

function tokenAt(text: string, at: number): Token | undefined {
  pattern.lastIndex = at
  const found = pattern.exec(text)
  const end = at + (found?.[0].length ?? 0)
  const { groups } = found ?? {}
  if (!groups) return undefined
  if (groups.word !== undefined) return { kind: wordKind(groups.word, text, at, end), start: at, end }
  return { kind: groups.text !== undefined ? 'text' : groups.number ? 'number' : 'mark', start: at, end }
}

function wordKind(word: string, text: string, start: number, end: number): TokenKind {
  if (/^\s*\(/.test(text.slice(end, end + 10))) return 'function'
  if (/[^.\d]?\.\s*$/.test(text.slice(0, start)) && !text.slice(0, start).endsWith('..')) return 'field'
  return word === 'true' || word === 'false' || word === 'null' ? 'constant' : 'name'
}
