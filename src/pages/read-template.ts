/**
 * A page template as it is stored (`content` and `css`), made ready for pages. Its content is JSON:
 *
 *   { "layout": "side", "width": "normal", "brand": { "label": "Ashdown CRM", "href": "/", "logo": "/static/logo.svg" },
 *     "navigation": [{ "label": "Customers", "href": "/customers", "group": "Sales" }], "footer": "…",
 *     "tokens": { "accent": "light-dark(#7a1f5c, #e79ac9)" }, "language": "de", "direction": "ltr", "account": true,
 *     "words": { "en": { "signin.title": "Ashdown staff" }, "de": { "signin.title": "Mitarbeiter von Ashdown" } } }
 *
 * All of it is optional. What does not fit is left out and said in `problems`: a page is shown even when its template has
 * a fault.
 */
import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { safeHref } from '../shared/pages/page-content.ts'
import { defaultTemplate, type TemplateSettings } from '../shared/pages/page-template.ts'
import { wordsProblem } from './messages.ts'

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

type Words = NonNullable<TemplateSettings['words']>

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength })

const Content = Type.Object(
  {
    layout: Type.Optional(Type.Enum(['top', 'side'])),
    width: Type.Optional(Type.Enum(['narrow', 'normal', 'full'])),
    brand: Type.Optional(
      Type.Object(
        { label: text(100), href: Type.Optional(text(2_000)), logo: Type.Optional(text(2_000)) },
        { additionalProperties: false },
      ),
    ),
    navigation: Type.Optional(
      Type.Array(
        Type.Object(
          { label: text(100), href: text(2_000), group: Type.Optional(text(100)) },
          { additionalProperties: false },
        ),
        { maxItems: 100 },
      ),
    ),
    footer: Type.Optional(text(2_000)),
    tokens: Type.Optional(Type.Record(Type.String(), Type.String({ maxLength: 300 }))),
    language: Type.Optional(Type.String({ pattern: '^[a-z]{2,3}(-[A-Z][a-z]{3})?(-[A-Z]{2})?$' })),
    direction: Type.Optional(Type.Enum(['ltr', 'rtl'])),
    account: Type.Optional(Type.Boolean()),
    words: Type.Optional(
      Type.Record(Type.String(), Type.Record(Type.String(), Type.String({ minLength: 1, maxLength: 500 }))),
    ),
  },
  { additionalProperties: false },
)
type Content = Type.Static<typeof Content>

/** Compiling it takes half a millisecond, so it is made when it is first needed, and kept. */
let checker: ReturnType<typeof Compile<typeof Content>> | undefined

export interface ReadTemplate {
  readonly settings: TemplateSettings
  /** To be served as a style sheet after Quoin's own; empty when there is nothing to say. */
  readonly css: string
  /** Complete sentences for the author of the template. */
  readonly problems: readonly string[]
}

export function readTemplate(stored: {
  readonly name: string
  readonly content: string
  readonly css: string
}): ReadTemplate {
  const problems: string[] = []
  const content = readContent(stored.content, problems)
  const brand = { ...defaultTemplate.brand, label: stored.name, ...content.brand }
  const logo = brand.logo === undefined ? undefined : checkedHref(brand.logo, 'The logo', problems)
  const { logo: _, ...named } = brand
  const { tokens = {}, navigation = [], footer, language, direction, layout, width, account } = content
  const settings: TemplateSettings = {
    layout: layout ?? defaultTemplate.layout,
    width: width ?? defaultTemplate.width,
    brand: {
      ...named,
      href: checkedHref(brand.href, 'The brand', problems) ?? '/',
      ...(logo !== undefined && { logo }),
    },
    navigation: navigation.filter(
      ({ label, href }) => checkedHref(href, `The link ${label}`, problems) !== undefined,
    ),
    account: account ?? defaultTemplate.account,
    ...(footer !== undefined && { footer }),
    ...(language !== undefined && { language }),
    ...(direction !== undefined && { direction }),
    ...(content.words && { words: checkedWords(content.words, problems) }),
  }
  return {
    settings,
    css: [tokenRule(tokens, problems), checkedCss(stored.css, problems)].filter(Boolean).join('\n'),
    problems,
  }
}

function readContent(content: string, problems: string[]): Content {
  if (content.trim() === '') return {}
  const parsed = parse(content)
  if (parsed === undefined) {
    problems.push(
      'The content must be JSON, such as { "layout": "side", "navigation": [] }. HTML is not used.',
    )
    return {}
  }
  checker ??= Compile(Content)
  if (checker.Check(parsed)) return parsed
  const [first] = checker.Errors(parsed)
  problems.push(
    `The content does not fit at ${first?.instancePath || '/'}: it ${first?.message ?? 'is wrong'}.`,
  )
  return {}
}

function parse(content: string): unknown {
  try {
    return JSON.parse(content)
  } catch {
    return undefined
  }
}

function checkedHref(href: string, what: string, problems: string[]): string | undefined {
  const safe = safeHref(href)
  if (safe === undefined)
    problems.push(`${what} must lead to a path such as /customers or to an address with https://.`)
  return safe
}

function checkedWords(words: NonNullable<Content['words']>, problems: string[]): Words {
  const fitting = ([language, texts]: [string, Readonly<Record<string, string>>]) =>
    Object.entries(texts).filter(([key, said]) => {
      const problem = wordsProblem(language, key, said)
      if (problem !== undefined) problems.push(problem)
      return problem === undefined
    })
  return Object.fromEntries(Object.entries(words).map((one) => [one[0], Object.fromEntries(fitting(one))]))
}

function tokenRule(tokens: Readonly<Record<string, string>>, problems: string[]): string {
  const lines = Object.entries(tokens).flatMap(([name, value]) => {
    const problem = tokenProblem(name, value)
    if (problem === undefined) return [`--${name}:${value.trim()};`]
    problems.push(problem)
    return []
  })
  return lines.length === 0 ? '' : `:root{${lines.join('')}}`
}

function checkedCss(css: string, problems: string[]): string {
  const problem = cssProblem(css)
  if (problem === undefined) return css.trim()
  problems.push(`The style sheet ${problem}.`)
  return ''
}
