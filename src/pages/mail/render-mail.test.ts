import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { PageNode } from '../../shared/pages/page-content.ts'
import { valueFormats } from '../../shared/value-format.ts'
import { renderMail } from './render-mail.ts'

const mail = (
  content: readonly PageNode[],
  more: { site?: string; locale?: string; timeZone?: string } = {},
) =>
  renderMail({
    content,
    title: 'Mail',
    locale: 'en',
    timeZone: 'UTC',
    site: 'https://shop.example',
    now: Date.UTC(2026, 0, 31, 12),
    ...more,
  })

/** What the HTML shows, without its head. */
const shown = (html: string) => html.slice(html.indexOf('<body'))

const text = (written: string): PageNode => ({ kind: 'text', text: written })
const link = (href: string): PageNode => ({ kind: 'link', label: 'Open', href })

test.each<[string, PageNode, string, string]>([
  ['a heading', { kind: 'heading', level: 1, text: 'Orders' }, '>Orders</h1>', 'Orders\n======'],
  ['a text', text('a <b>\nc'), '>a &lt;b><br/>c</p>', 'a <b>\nc'],
  [
    'a path',
    link('/orders/1'),
    'href="https://shop.example/orders/1"',
    'Open: https://shop.example/orders/1',
  ],
  ['a page beside it', link('orders?a=1&b'), 'orders?a=1&amp;b"', 'Open: https://shop.example/orders?a=1&b'],
  ['an address', link('https://a.example/b'), 'href="https://a.example/b"', 'Open: https://a.example/b'],
  [
    'a button',
    { kind: 'button', action: 'link', label: 'Pay', href: '/pay', tone: 'primary' },
    'href="https://shop.example/pay"',
    'Pay: https://shop.example/pay',
  ],
  [
    'an image',
    { kind: 'image', src: '/static/a.png', alt: 'Logo', width: 120, height: 40 },
    '<img src="https://shop.example/static/a.png" alt="Logo" width="120" height="40"',
    'Logo',
  ],
  [
    'a list',
    { kind: 'list', ordered: true, items: [[text('one\ntwo')], [text('three')]] },
    '>one<br/>two</li>',
    '1. one\n   two\n2. three',
  ],
  ['an empty list', { kind: 'list', items: [] }, '>Nothing here yet</p>', 'Nothing here yet'],
  [
    'fields',
    { kind: 'detail', items: [{ label: 'Total', value: 1234.5, format: 'currency', currency: 'EUR' }] },
    '>€1,234.50</td>',
    'Total: €1,234.50',
  ],
  [
    'a table',
    {
      kind: 'table',
      id: 'orders',
      caption: 'Orders',
      columns: [
        { field: 'name', label: 'Name', format: 'text' },
        { field: 'state', label: 'State', format: 'badge' },
      ],
      rows: [{ key: '1', href: '/orders/1', cells: ['A', 'paid'] }],
      more: true,
    },
    '<a href="https://shop.example/orders/1" style="color:#0b6a63">A</a>',
    'Orders\n------\nName | State\nA | paid\nThis mail does not contain all rows.',
  ],
  [
    'a chart',
    {
      kind: 'chart',
      id: 'chart',
      type: 'bar',
      title: 'Sales',
      heading: 'Month',
      labels: ['May'],
      series: [{ name: 'Net', values: [5] }],
    },
    '>5</td>',
    'Sales\n-----\nMonth | Net\nMay | 5',
  ],
  [
    'columns and a card',
    {
      kind: 'columns',
      columns: [[{ kind: 'card', title: 'Open', figure: '12', note: 'orders', content: [] }], [text('b')]],
      widths: [3, 1],
    },
    'width="75%"',
    'Open\n12\norders\n\nb',
  ],
  ['an alert', { kind: 'alert', tone: 'danger', title: 'Late', text: 'Call' }, '#b0271d', 'Late\nCall'],
  [
    'tabs',
    { kind: 'tabs', id: 't', tabs: [{ label: 'One', content: [text('a')] }] },
    '>One</h2>',
    'One\n---\na',
  ],
  [
    'links',
    { kind: 'navigation', links: [{ label: 'A', href: '/a' }] },
    'https://shop.example/a',
    'A: https://shop.example/a',
  ],
])('%s', (_what, node, html, plain) => {
  const made = mail([node])
  expect(shown(made.html)).toContain(html)
  expect(made.text).toBe(plain)
})

test('words and days of a table stay whole, and only a long text without blanks is broken', () => {
  const table = (columns: number): PageNode => ({
    kind: 'table',
    id: 't',
    caption: '',
    columns: Array.from({ length: columns }, (_, at) => ({
      field: `f${at}`,
      label: 'F',
      format: at === 1 ? ('date' as const) : ('text' as const),
    })),
    rows: [{ key: '1', cells: ['ended', '2026-01-31', 'x'.repeat(40)] }],
  })
  const { html } = mail([table(7)])
  expect(shown(html)).toMatch(/<table [^>]*overflow-wrap:break-word;font-size:14px"/)
  expect(shown(html)).toMatch(/<td style="border-bottom:1px solid #dce3e1">ended</)
  const heads = [...shown(html).matchAll(/<th [^>]*style="([^"]*)"/g)].map(([, style = '']) => style)
  expect(heads).toHaveLength(7)
  for (const style of heads) expect(style).toContain('overflow-wrap:normal')
  expect(shown(html)).toMatch(/<td style="[^"]*white-space:nowrap">Jan 31, 2026</)
  expect(shown(html)).toMatch(/<td style="[^"]*overflow-wrap:anywhere">x{40}</)
  // On a phone only a table of many columns has no room for them.
  expect(html).toContain('.q-many td{white-space:normal!important}')
  expect(shown(html)).toContain('class="q-rows q-many"')
  const few = shown(mail([table(3)]).html)
  expect(few).not.toContain('font-size:14px"')
  expect(few).not.toContain('class="q-rows q-many"')
})

test.each<[string, PageNode]>([
  ['a script', link('javascript:alert(1)')],
  ['another site without its scheme', link('//evil.example')],
  ['a place on the page', link('#top')],
  ['an image of mailto', { kind: 'image', src: 'mailto:a@b.example', alt: 'Open' }],
  ['a value', { kind: 'detail', items: [{ label: 'A', value: 'javascript:alert(1)', format: 'link' }] }],
])('%s is left as text', (_what, node) => {
  const { html } = mail([node])
  expect(shown(html)).not.toMatch(/href|src=/)
  expect(shown(html)).toMatch(/Open|javascript:alert/)
})

test('without an address of the cluster a relative one is left as text, and a whole one stays', () => {
  const { html, text: plain } = mail([link('/a'), link('https://a.example')], { site: '' })
  expect(shown(html).match(/href="[^"]*"/g)).toEqual(['href="https://a.example"'])
  expect(plain).toBe('Open\n\nOpen: https://a.example')
})

test('times are those of the time zone that it is sent with', () => {
  const items = [{ label: 'at', value: '2026-03-10T07:00:00.000Z', format: 'date_time' as const }]
  const { html, text } = mail([{ kind: 'detail', items }], { timeZone: 'Europe/Berlin' })
  expect([html, text].every((one) => /Mar 10, 2026, 8:00\sAM/.test(one))).toBe(true)
})

test('numbers, dates and the direction follow the locale', () => {
  const items = [
    { label: 'a', value: 1234.5, format: 'number' as const },
    { label: 'b', value: '2026-01-31', format: 'date' as const },
  ]
  expect(mail([{ kind: 'detail', items }], { locale: 'de' }).text).toBe('a: 1.234,5\nb: 31.01.2026')
  expect(mail([], { locale: 'ar' }).html).toContain('dir="rtl"')
})

/** Every tag that a mail may have, with every attribute: what is not in here was put in by a text. */
const tags =
  /^<(?:!doctype html|(\/?)(html|head|meta|title|style|body|table|tr|td|th|p|h[1-6]|a|img|span|strong|br|ul|ol|li|pre|div)((?: [a-z]+="[^"]*"| alt)*)\/?)>/
const attributes =
  /^(?:lang|dir|charset|name|content|style|role|cellpadding|cellspacing|border|width|height|class|align|valign|scope|href|src|alt)$/

function problemsOf(html: string): readonly string[] {
  const problems: string[] = []
  for (let at = html.indexOf('<'); at !== -1; at = html.indexOf('<', at + 1)) {
    const found = tags.exec(html.slice(at))
    if (!found) {
      problems.push(html.slice(at, at + 80))
      continue
    }
    for (const [, name = '', value = ''] of (found[3] ?? '').matchAll(/ ([a-z]+)(?:="([^"]*)")?/g)) {
      if (!attributes.test(name)) problems.push(name)
      if (/^(?:href|src)$/.test(name) && !/^(?:https?:|mailto:|tel:)/i.test(value)) problems.push(value)
    }
  }
  return problems
}

const hostile = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '<script>alert(1)</script>',
    '</style><script>',
    '"><img src=x onerror=alert(1)>',
    "' onload='",
    'javascript:alert(1)',
    'java\tscript:alert(1)',
    'data:text/html,<script>',
    '//evil.example',
    '/ok"onclick="a',
    '<!--',
    ']]>',
    '\u0000<\u0000script>',
    '&lt;script&gt;',
  ),
)
const format = fc.constantFrom(...valueFormats)
const value = fc.oneof(
  hostile,
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.array(hostile),
  fc.record({ name: hostile, href: hostile }),
)
const tone = fc.constantFrom('neutral', 'info', 'success', 'warning', 'danger')
const { nodes } = fc.letrec<{ nodes: PageNode[]; node: PageNode }>((tie) => ({
  nodes: fc.array(tie('node'), { maxLength: 4 }),
  node: fc.oneof(
    { maxDepth: 3 },
    fc.record({
      kind: fc.constant('text'),
      text: hostile,
      variant: fc.constantFrom('normal', 'lead', 'muted', 'code'),
    }),
    fc.record({ kind: fc.constant('heading'), level: fc.constantFrom(1, 2, 3, 4), text: hostile }),
    fc.record({ kind: fc.constant('link'), label: hostile, href: hostile }),
    fc.record({ kind: fc.constant('button'), action: fc.constant('link'), label: hostile, href: hostile }),
    fc.record({ kind: fc.constant('image'), src: hostile, alt: hostile, caption: hostile }),
    fc.record({ kind: fc.constant('alert'), tone, title: hostile, text: hostile }),
    fc.record({ kind: fc.constant('badge'), tone, text: hostile }),
    fc.record({
      kind: fc.constant('detail'),
      items: fc.array(fc.record({ label: hostile, value, format, href: hostile })),
    }),
    fc.record({
      kind: fc.constant('table'),
      id: hostile,
      caption: hostile,
      columns: fc.tuple(fc.record({ field: hostile, label: hostile, format })),
      rows: fc.array(fc.record({ key: hostile, href: hostile, cells: fc.tuple(value) })),
      empty: hostile,
    }),
    fc.record({
      kind: fc.constant('chart'),
      id: hostile,
      type: fc.constant('bar'),
      title: hostile,
      labels: fc.tuple(hostile),
      series: fc.tuple(fc.record({ name: hostile, values: fc.tuple(fc.constantFrom(1, null)) })),
    }),
    fc.record({
      kind: fc.constant('navigation'),
      links: fc.array(fc.record({ label: hostile, href: hostile })),
    }),
    fc.record({
      kind: fc.constant('card'),
      title: hostile,
      href: hostile,
      figure: hostile,
      note: hostile,
      content: tie('nodes'),
    }),
    fc.record({ kind: fc.constant('columns'), columns: fc.array(tie('nodes'), { maxLength: 3 }) }),
    fc.record({ kind: fc.constant('list'), items: fc.array(tie('nodes'), { maxLength: 3 }), empty: hostile }),
    fc.record({
      kind: fc.constant('tabs'),
      id: hostile,
      tabs: fc.array(fc.record({ label: hostile, content: tie('nodes') }), { maxLength: 2 }),
    }),
  ),
}))

test('whatever texts say, the HTML has the tags and attributes of this renderer only', () => {
  fc.assert(
    fc.property(nodes, hostile, (content, title) => {
      const site = 'https://shop.example'
      const { html } = renderMail({ content, title, locale: 'en', timeZone: 'UTC', site, now: 0 })
      expect(problemsOf(html)).toEqual([])
      expect(html).not.toMatch(/<(?:script|form|input|iframe|object|link|base)/i)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may be there
      expect(html).not.toMatch(/[\u0000-\u0008\u000b-\u001f]/)
    }),
    { numRuns: 500 },
  )
})

test.each(['<script>', '<p onclick="a">', '<a href="javascript:a">', '<p a'])(
  'the check finds %s',
  (html) => {
    expect(problemsOf(html)).not.toEqual([])
  },
)
