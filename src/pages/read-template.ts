/**
 * A page template as it is stored (`content` and `css`), made ready for pages. Its content is JSON:
 *
 *   { "layout": "side", "width": "normal", "brand": { "label": "Ashdown CRM", "href": "/", "logo": "/static/logo.svg" },
 *     "navigation": [{ "label": "Customers", "href": "/customers", "group": "Sales" }], "footer": "…",
 *     "tokens": { "accent": "light-dark(#7a1f5c, #e79ac9)" }, "language": "de", "direction": "ltr", "account": true }
 *
 * All of it is optional. What does not fit is left out and said in `problems`: a page is shown even when its template has
 * a fault.
 */
import Type from 'typebox'
import { Compile } from 'typebox/compile'
import { safeHref } from '../shared/pages/page-content.ts'
import { defaultTemplate, type TemplateSettings } from '../shared/pages/page-template.ts'
import { cssProblem } from './check-css.ts'
import { tokenProblem } from './template-tokens.ts'

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
