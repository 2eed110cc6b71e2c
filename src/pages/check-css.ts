/**
 * What keeps a template's style sheet from being used, in words that finish the sentence "the style sheet …", or undefined.
 *
 * It is served as a file of its own and can run nothing. What is refused is what would reach out of it: loading from
 * elsewhere tells others who looks at which page, and, with selectors on values of attributes, what is written on it.
 */
export function cssProblem(css: string): string | undefined {
  if (css.length > MAX_CSS) return `has more than ${MAX_CSS.toLocaleString('en-US')} characters`
  if (css.includes('\\')) return 'has a backslash: with one, a forbidden word can be disguised'
  // A browser takes a comment for nothing, so it must not part a word here. What looks like one within a text is none.
  const plain = css.replace(TEXT_OR_COMMENT, (found) => (found.startsWith('/*') ? '' : found)).toLowerCase()
  for (const [pattern, what] of forbidden) if (pattern.test(plain)) return `must not use ${what}`
  return bracesProblem(plain)
}

const MAX_CSS = 65_536

/** A text ends with its line. */
const TEXT = /"[^"\n\r\f]*"|'[^'\n\r\f]*'/g
const TEXT_OR_COMMENT = /"[^"\n\r\f]*"?|'[^'\n\r\f]*'?|\/\*[\s\S]*?(?:\*\/|$)/g

const forbidden: readonly (readonly [RegExp, string])[] = [
  [/url\s*\(/, 'url(): pages load nothing from other places'],
  [/(?:image|image-set|cross-fade|src)\s*\(/, 'functions that load images'],
  [
    /@\s*(?:import|charset|namespace|font-face|document)/,
    '@import, @font-face and other rules that load files',
  ],
  [/expression\s*\(|javascript\s*:|-moz-binding|behavior\s*:/, 'expressions that old browsers executed'],
  [/<\s*[/!a-z]/, 'HTML'],
]

/** An open brace would swallow what comes after it, such as the rules that keep the focus visible. */
function bracesProblem(css: string): string | undefined {
  let depth = 0
  for (const letter of css.replace(TEXT, '')) {
    if (letter === '{') depth += 1
    if (letter === '}') depth -= 1
    if (depth < 0) return 'closes a brace that was not opened'
    if (letter === '"' || letter === "'") return 'has a text that does not end on its line'
  }
  return depth === 0 ? undefined : 'does not close all of its braces'
}
