import { expect, test } from 'vitest'
import type { PageNode, PageView } from '../shared/pages/page-content.ts'
import { defaultTemplate } from '../shared/pages/page-template.ts'
import { renderPage } from './render-page.ts'

const files = {
  style: '/_pages/x/page.css',
  script: '/_pages/x/live.js',
  icon: '/_pages/x/icon.svg',
  modules: [],
}

const view: PageView = {
  title: 'Tasks',
  content: [],
  template: undefined,
  locale: 'en',
  timeZone: 'UTC',
  user: undefined,
  url: '/tasks',
  hidden: {},
  theme: 'auto',
  notice: undefined,
  events: undefined,
  noIndex: false,
}

const now = Date.UTC(2026, 0, 31, 12)

function html(changes: Partial<PageView> = {}): string {
  return renderPage({ ...view, ...changes }, files, now)
}

/** What is in main, without the tag itself. */
function main(...content: readonly PageNode[]): string {
  return /<main[^>]*>(.*)<\/main>/s.exec(html({ content }))?.[1] ?? ''
}

const headings = (page: string): string[] =>
  [...page.matchAll(/<(h\d)[^>]*>(.*?)<\/h\d>/gs)].map(([, tag, text]) => `${tag} ${text}`)

test.each<[string, readonly PageNode[], string[]]>([
  ['none: the title', [{ kind: 'text', text: 'a' }], ['h1 Tasks']],
  ['one', [{ kind: 'heading', level: 1, text: 'Mine' }], ['h1 Mine']],
  [
    'two',
    [
      { kind: 'heading', level: 1, text: 'a' },
      { kind: 'heading', level: 1, text: 'b' },
    ],
    ['h1 a', 'h2 b'],
  ],
  [
    'one in a card',
    [{ kind: 'card', title: 'c', content: [{ kind: 'heading', level: 1, text: 'a' }] }],
    ['h1 Tasks', 'h2 c', 'h2 a'],
  ],
  [
    'a card in a card',
    [{ kind: 'card', title: 'c', content: [{ kind: 'card', title: 'd', content: [] }] }],
    ['h1 Tasks', 'h2 c', 'h3 d'],
  ],
])('a page has one first heading; %s', (_name, content, expected) => {
  expect(headings(main(...content)).map((line) => line.replace(/<[^>]+>/g, ''))).toEqual(expected)
})

test('a breadcrumb stands above the heading that the title makes', () => {
  expect(main({ kind: 'breadcrumb', links: [{ label: 'Start', href: '/' }] })).toMatch(
    /<nav.*<\/nav><h1>Tasks/s,
  )
})

test.each([
  ['javascript:alert(1)', undefined],
  ['JAVASCRIPT:alert(1)', undefined],
  ['data:text/html,a', undefined],
  ['//elsewhere.example', undefined],
  ['/tasks?a=1&b="', 'href="/tasks?a=1&amp;b=&quot;"'],
  ['https://a.example/', 'href="https://a.example/" rel="noopener noreferrer"'],
  ['mailto:a@b.example', 'href="mailto:a@b.example"'],
  ['tel:+49', 'href="tel:+49"'],
  ['tasks/1', 'href="tasks/1"'],
])('the link %j is %s', (href, attribute) => {
  const page = main({ kind: 'link', label: 'a', href })
  expect(page).toContain(attribute === undefined ? '<a>a</a>' : `<a ${attribute}>a</a>`)
})

test('language, direction and theme are said in the root', () => {
  expect(html({ locale: 'de-AT', theme: 'dark' })).toContain(
    '<html lang="de-AT" dir="ltr" data-theme="dark">',
  )
  const settings = { ...defaultTemplate, language: 'ar' }
  const template = { name: 'a', settings, css: '/_pages/t.css', js: undefined }
  const page = html({ template })
  expect(page).toContain('<html lang="ar" dir="rtl">')
  expect(page.indexOf('/_pages/t.css')).toBeGreaterThan(page.indexOf('/_pages/x/page.css'))
})

test('nothing in a page is inline code or inline style', () => {
  const page = html({
    content: [
      {
        kind: 'chart',
        id: 'c',
        type: 'pie',
        title: 'a',
        labels: ['a'],
        series: [{ name: 'a', values: [1] }],
      },
      { kind: 'modal', id: 'm', label: 'a', title: 'b', content: [] },
    ],
  })
  expect(page).not.toMatch(/ style=| on[a-z]+=|<style|<script(?! type="module" src=)/)
})

test('the figures of a chart are a table, headed by what its labels are', () => {
  const chart = { kind: 'chart', id: 'c', type: 'bar', title: 'a', labels: ['May'] } as const
  const series = [{ name: 'n', values: [1] }]
  expect(main({ ...chart, series, heading: 'Month' })).toContain('<th scope="col">Month</th>')
  expect(main({ ...chart, series })).toContain('<th scope="col">Label</th>')
})

test('an input says what describes it, and keeps what was typed, but never a password', () => {
  const page = main({
    kind: 'form',
    id: 'f',
    block: 'b',
    action: '/tasks',
    errors: [{ input: 'i', message: 'Too long' }],
    content: [
      {
        kind: 'input',
        id: 'i',
        name: 'title',
        label: 'Title',
        type: 'text',
        value: 'a "b"',
        help: 'Short',
        error: 'Too long',
      },
      { kind: 'input', id: 'p', name: 'word', label: 'Word', type: 'password', value: 'secret' },
      {
        kind: 'input',
        id: 'c',
        name: 'kind',
        label: 'Kind',
        type: 'choice',
        value: 'odd',
        options: [{ value: 'a', label: 'A' }],
      },
    ],
  })
  expect(page).toContain('aria-describedby="i-help i-error"')
  expect(page).toContain('value="a &quot;b&quot;"')
  expect(page).toContain('<a href="#i">Too long</a>')
  expect(page).toContain('<option value="odd" selected>odd</option>')
  expect(page).not.toContain('secret')
})

test('a button that asks first has the real one in the question', () => {
  const page = main({
    kind: 'form',
    id: 'f',
    block: 'b',
    plain: true,
    action: '/a',
    content: [{ kind: 'button', label: 'Delete', action: 'action', name: 'n', value: 'v', confirm: 'Sure?' }],
  })
  expect(page.match(/type="submit"/g)).toHaveLength(1)
  expect(page).toMatch(/popover="auto".*Sure\?.*<button[^>]*type="submit" name="n" value="v"/s)
})

test('ids are on a page once', () => {
  const card: PageNode = { kind: 'card', title: 'a', content: [] }
  const tabs: PageNode = { kind: 'tabs', id: 'card', tabs: [{ label: 'a', content: [] }] }
  const ids = [...html({ content: [card, card, tabs, tabs] }).matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)
  expect(ids.length).toBeGreaterThan(5)
  expect(new Set(ids).size).toBe(ids.length)
})

test('the question of a row keeps its id whatever else is on the page, for its table is replaced alone', () => {
  const remove = { name: 'remove', label: 'Delete', for: 'both', confirm: 'Sure?' } as const
  const names = { rowName: '_row', rowsName: '_rows', bulkName: '_bulk' }
  const actions = { action: '/', hidden: [], row: [remove], rows: [remove], ...names }
  const tableOf = (id: string, count: number): PageNode => ({
    kind: 'table',
    id,
    caption: id,
    columns: [],
    rows: Array.from({ length: count }, (_, at) => ({ key: `k${at}`, cells: [] })),
    actions,
  })
  const questionsOf = (...tables: readonly PageNode[]) =>
    [...main(...tables).matchAll(/popovertarget="([^"]+)"/g)].map(([, id]) => id)
  const [below] = [questionsOf(tableOf('a', 2), tableOf('b', 1)).filter((id) => id?.startsWith('b.'))]
  expect([...new Set(below)]).toEqual(['b..remove', 'b.k0.remove'])
  expect(questionsOf(tableOf('a', 9)).filter((id) => below.includes(id))).toEqual([])
})

test('a form that was refused is seen in its tab and in its dialog, without a script too', () => {
  const errors = [{ message: 'Not so.' }]
  const form = (refused: boolean): PageNode => ({
    kind: 'form',
    id: 'f',
    block: 'b',
    action: '/',
    content: [],
    errors: refused ? errors : [],
  })
  const opened = (refused: boolean) => {
    const tabs = [
      { label: 'a', content: [] as PageNode[] },
      { label: 'b', content: [form(refused)] },
    ]
    const page = main(
      { kind: 'tabs', id: 't', tabs },
      { kind: 'modal', id: 'm', label: 'a', title: 'b', content: [form(refused)] },
    )
    return [...page.matchAll(/<(?:details|dialog)[^>]* id="([^"]+)"[^>]* open/g)].map(([, id]) => id)
  }
  expect([opened(true), opened(false)]).toEqual([['t-2', 'm'], ['t-1']])
})

test('the link of the navigation that leads here, or above here, is marked', () => {
  const navigation = ['/', '/tasks', '/tasks/open', '/task'].map((href) => ({ label: href, href }))
  const template = { name: 'a', settings: { ...defaultTemplate, navigation }, css: undefined, js: undefined }
  const marked = (url: string) => /<a href="([^"]*)" aria-current="page">/.exec(html({ url, template }))?.[1]
  expect(['/', '/tasks', '/tasks/7?x=1', '/tasks/open/', '/tasksx'].map(marked)).toEqual([
    '/',
    '/tasks',
    '/tasks',
    '/tasks/open',
    undefined,
  ])
})

test('signed in: the name and the way out, with what the form needs; else the way in and back', () => {
  const signedIn = html({ user: { username: 'ann', name: 'Ann <b>' }, hidden: { _token: 't"' } })
  expect(signedIn).toContain('Ann &lt;b>')
  expect(signedIn).toMatch(/action="\/logout".*name="_token" value="t&quot;"/s)
  expect(html({ url: '/tasks?a=1&b=2' })).toContain('href="/login?next=%2Ftasks%3Fa%3D1%26b%3D2"')
})

test('times and numbers are written in the language of the template, in the time zone of the visitor', () => {
  const content: PageView['content'] = [
    { kind: 'detail', items: [{ label: 'At', value: '2026-03-10T07:00:00Z', format: 'date_time' }] },
  ]
  const template = {
    name: 'a',
    settings: { ...defaultTemplate, language: 'de' },
    css: undefined,
    js: undefined,
  }
  expect(html({ content, template, timeZone: 'Europe/Berlin' })).toContain('10.03.2026, 08:00')
})
