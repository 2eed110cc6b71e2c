import { h } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { expect, test } from 'vitest'
import { type Plot, plot, usualWidth, wideWidth } from './chart-plot.ts'

function textsOf(labels: readonly string[], width: number, type: Plot['type'] = 'bar'): string[] {
  const drawn = plot(
    { type, labels, series: [{ name: 'n', values: labels.map((_, at) => at + 1) }], axis: String },
    width,
    {},
  )
  const svg = renderToString(h('div', null, drawn))
  return [...svg.matchAll(/<text[^>]*>([^<]*)<\/text>/g)].map(([, words]) => words ?? '')
}

const companies = [
  'Meadowsweet Tea',
  'Greyfriars Instruments',
  'Coppice Furniture',
  'Fernleigh Care',
  'Candleford Books',
]

test('long labels are whole: wrapped where there is room, above lying bars where there is none', () => {
  const wide = textsOf(companies, wideWidth).join(' ')
  for (const company of companies) expect(wide).toContain(company)
  expect(textsOf(companies, usualWidth)).toEqual(expect.arrayContaining(companies))
})

test('a label of 130,000 words, which a client may store, is drawn in part', () => {
  const [longest = ''] = textsOf(['a '.repeat(130_000), 'b'], usualWidth).toSorted(
    (a, b) => b.length - a.length,
  )
  expect([longest.length > 10, longest.length < 300]).toEqual([true, true])
})

test('short labels stand in one line', () => {
  expect(textsOf(['Mon', 'Tue'], usualWidth)).toEqual(expect.arrayContaining(['Mon', 'Tue']))
})

test('of many labels as many as fit, and lines never lie', () => {
  const many = Array.from({ length: 60 }, (_, at) => `Customer number ${at}`)
  const shown = textsOf(many, usualWidth).filter((text) => text.startsWith('Customer'))
  expect(shown.length).toBeGreaterThan(1)
  expect(shown.length).toBeLessThan(10)
  expect(textsOf(companies, usualWidth, 'line').join(' ')).toContain('Greyfria')
})

test.each([[[]], [['']], [['a'.repeat(500)]], [['x y z w v u t s '.repeat(30)]]])('labels %#', (labels) => {
  for (const width of [usualWidth, wideWidth])
    for (const text of textsOf(labels, width)) expect(text.length).toBeLessThan(150)
})
