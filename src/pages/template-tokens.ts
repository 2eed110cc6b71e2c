/** The tokens of `theme/tokens.css` that a page template may set, and what their values may be. */
export type TokenKind = 'colour' | 'length' | 'font'

export const templateTokens: Readonly<Record<string, TokenKind>> = {
  ground: 'colour',
  surface: 'colour',
  sunken: 'colour',
  ink: 'colour',
  'ink-soft': 'colour',
  line: 'colour',
  'line-strong': 'colour',
  accent: 'colour',
  'accent-strong': 'colour',
  'accent-soft': 'colour',
  'on-accent': 'colour',
  danger: 'colour',
  'danger-soft': 'colour',
  success: 'colour',
  'success-soft': 'colour',
  warning: 'colour',
  'warning-soft': 'colour',
  info: 'colour',
  'info-soft': 'colour',
  'chart-1': 'colour',
  'chart-2': 'colour',
  'chart-3': 'colour',
  'chart-4': 'colour',
  'chart-5': 'colour',
  'chart-6': 'colour',
  font: 'font',
  'font-heading': 'font',
  'font-mono': 'font',
  'text-size': 'length',
  radius: 'length',
  'radius-small': 'length',
  'page-width': 'length',
}

const one = String.raw`(?:#[0-9a-f]{3,8}|[a-z]+|(?:rgb|hsl|hwb|lab|lch|oklab|oklch)a?\([-0-9a-z.,%/ ]+\))`

const patterns: Readonly<Record<TokenKind, RegExp>> = {
  colour: new RegExp(String.raw`^(?:${one}|light-dark\(\s*${one}\s*,\s*${one}\s*\))$`, 'i'),
  length: /^(?:0|\d{1,4}(?:\.\d{1,4})?(?:px|rem|em|ch|%|vw))$/,
  font: /^[-\w\s,"']{1,300}$/,
}

const expected: Readonly<Record<TokenKind, string>> = {
  colour: 'a colour such as #0b6a63, or light-dark(#0b6a63, #5fc9bd) for both modes',
  length: 'a length such as 0.5rem',
  font: 'names of fonts such as Georgia, serif',
}

/** What is wrong with a token, a whole sentence, or undefined. */
export function tokenProblem(name: string, value: string): string | undefined {
  const kind = Object.hasOwn(templateTokens, name) ? templateTokens[name] : undefined
  if (kind === undefined)
    return `There is no token ${name}. There are ${Object.keys(templateTokens).join(', ')}.`
  const balanced = (value.match(/"/g) ?? []).length % 2 === 0 && (value.match(/'/g) ?? []).length % 2 === 0
  return patterns[kind].test(value.trim()) && balanced
    ? undefined
    : `The token ${name} must be ${expected[kind]}.`
}
