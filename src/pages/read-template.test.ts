import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { defaultTemplate } from '../shared/pages/page-template.ts'
import { cssProblem, readTemplate, templateTokens, tokenProblem } from './read-template.ts'

const read = (content: unknown, css = '') =>
  readTemplate({
    name: 'Shop',
    content: typeof content === 'string' ? content : JSON.stringify(content),
    css,
  })

test.each([
  ['<h1>{{content}}</h1>', 'must be JSON'],
  ['[]', 'does not fit at /'],
  [{ layout: 'left' }, '/layout'],
  [{ navigation: [{ label: 'a' }] }, '/navigation/0'],
  [{ navigation: [{ label: 'a', href: '/a', onclick: 'x' }] }, '/navigation/0'],
  [{ language: 'de"><script>' }, '/language'],
  [{ tokens: { accent: 'url(https://evil.example)' } }, 'The token accent must be a colour'],
  [{ tokens: { accent: 'red;}body{display:none' } }, 'The token accent must be a colour'],
  [{ tokens: { font: 'a", url(x), "' } }, 'The token font must be names of fonts'],
  [{ tokens: { constructor: 'red' } }, 'There is no token constructor'],
  [{ navigation: [{ label: 'Bad', href: 'javascript:a' }] }, 'The link Bad must lead'],
  [{ brand: { label: 'a', logo: 'data:text/html,a' } }, 'The logo must lead'],
  [{ words: { en: { 'signin.title': '' } } }, '/words/en/signin.title'],
  [{ words: { fr: { 'signin.title': 'Entrez' } } }, 'words in en and de, and not in fr'],
  [{ words: { constructor: { name: 'a' } } }, 'words in en and de, and not in constructor'],
  [{ words: { en: { 'signin.none': 'a' } } }, 'cannot replace the words signin.none'],
  [{ words: { en: { 'agent.about': 'All is well.' } } }, 'cannot replace the words agent.about'],
  [{ words: { de: { 'setup.key': 'Der Code' } } }, 'setup.key must have {secret} in de'],
])('%j is not used, and the page has its usual look: %s', (content, problem) => {
  const { settings, css, problems } = read(content)
  expect(problems.join()).toContain(problem)
  expect(settings.navigation).toEqual([])
  expect(css).toBe('')
})

test('an empty template is the usual look with its name', () => {
  expect(read('')).toEqual({
    settings: { ...defaultTemplate, brand: { label: 'Shop', href: '/' } },
    css: '',
    problems: [],
  })
})

test('what fits is used', () => {
  const content = {
    layout: 'side',
    width: 'full',
    brand: { label: 'Ashdown', href: '/start', logo: '/static/logo.svg' },
    navigation: [{ label: 'Deals', href: '/deals', group: 'Sales' }],
    footer: 'Mill Lane',
    tokens: { accent: 'light-dark(#7a1f5c, #e79ac9)', radius: '0', font: 'Georgia, "Noto Serif", serif' },
    language: 'ar',
    direction: 'rtl',
    account: false,
    words: { en: { 'signin.title': 'Ashdown staff' }, de: { 'choose.account': 'Konto von {username}' } },
  } as const
  const { settings, css, problems } = read(content, '.card { border: 2px solid; }')
  expect(problems).toEqual([])
  const { tokens: _, ...said } = content
  expect(settings).toEqual(said)
  expect(css).toBe(
    ':root{--accent:light-dark(#7a1f5c, #e79ac9);--radius:0;--font:Georgia, "Noto Serif", serif;}\n.card { border: 2px solid; }',
  )
})

test.each([
  ['body { background: url(https://evil.example/a.png) }', 'url()'],
  ['body { background: URL  ( "//evil.example" ) }', 'url()'],
  ['body { background: u/**/rl(x) }', 'url()'],
  ['body { background: u\\72l(x) }', 'backslash'],
  ['@import "https://evil.example/a.css";', '@import'],
  ['@import url(//evil.example/a.css);', 'url()'],
  ['a { content: "/*" } body { background: url(//evil.example/a.png) } b { content: "*/" }', 'url()'],
  ["a { content: '/*' } @import '//evil.example/a.css'; b { content: '*/' }", '@import'],
  ['a { content: "/*\f } body { background: url(//evil.example/a.png) } b { content: "*/" }', 'url()'],
  ['@IMPORT "a";', '@import'],
  ['@font-face { font-family: a; src: local(a) }', '@font-face'],
  ['a { background: image-set("https://evil.example/a" 1x) }', 'load images'],
  ['a { width: expression(alert(1)) }', 'browsers executed'],
  ['a { behavior: x }', 'browsers executed'],
  ['</style><script>alert(1)</script>', 'HTML'],
  ['a { color: red', 'braces'],
  ['} a { color: red', 'was not opened'],
  ['a { content: "} }', 'a text that does not end'],
  ['a{}'.repeat(30_000), '65,536'],
])('the style sheet %j is refused: %s', (css, problem) => {
  expect(cssProblem(css.slice(0, 90_000))).toContain(problem)
  const { css: used, problems } = read('', css)
  expect([used, problems.length]).toEqual(['', 1])
})

test.each([
  '',
  '.card { color: var(--accent); }',
  'a::after { content: "}" } /* url( */',
  '@media print { a { color: #000 } }',
])('the style sheet %j is used', (css) => {
  expect(read('', css)).toMatchObject({ css, problems: [] })
})

test('each token is one of the style sheet, and what the style sheet says is what it may be', () => {
  const css = readFileSync(join(import.meta.dirname, 'theme', 'tokens.css'), 'utf8')
  for (const [name, kind] of Object.entries(templateTokens)) {
    const value = new RegExp(`\\n\\s*--${name}:([^;]+);`).exec(css)?.[1]?.replace(/\s+/g, ' ').trim()
    expect([name, value]).not.toEqual([name, undefined])
    if (value !== undefined && !value.startsWith('var('))
      expect([name, kind, tokenProblem(name, value)]).toEqual([name, kind, undefined])
  }
})
