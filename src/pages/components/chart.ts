/** A chart as a picture, what its colours mean, and the same figures as a table. */
import { type ComponentChild, h } from 'preact'
import type { ValueFormat } from '../../shared/value-format.ts'
import type { Drawing } from '../drawing.ts'
import { formatNumber } from '../format.ts'
import { colourClass, type Plot, plot, type Series, usualWidth, wideWidth } from './chart-plot.ts'
import { emptyState } from './empty-state.ts'
import { drawValue } from './value.ts'

interface Chart {
  readonly id: string
  readonly type: 'bar' | 'line' | 'pie'
  readonly title: string
  readonly heading?: string
  readonly labels: readonly string[]
  readonly series: readonly Series[]
  readonly format?: ValueFormat
  readonly currency?: string
}

export function chart(node: Chart, drawing: Drawing): ComponentChild {
  const id = drawing.id(node.id)
  const { title, type, labels, series } = node
  const caption = h('figcaption', { id: `${id}-title` }, title)
  if (!series.some(({ values }) => values.some((value) => value !== null)))
    return h('figure', { class: 'chart', id }, caption, emptyState({ title: drawing.say('chart.empty') }))
  const named = { 'aria-labelledby': `${id}-title` }
  const drawn =
    type === 'pie'
      ? h('div', { class: 'pie' }, pie(series[0]?.values ?? [], named), legend(labels, node, drawing))
      : [
          series.length > 1 ? legend(series.map(({ name }) => name)) : null,
          plots({ type, labels, series, axis: (value) => onAxis(value, node, drawing) }, named, drawing),
        ]
  return h('figure', { class: 'chart', id }, caption, drawn, figures(node, drawing))
}

/** Over the whole page there is one picture for wide windows and one for narrow ones; the style sheet shows one of them. */
function plots(drawn: Plot, named: Readonly<Record<string, string>>, { narrow }: Drawing): ComponentChild[] {
  const usual = plot(drawn, usualWidth, named)
  return narrow ? [usual] : [plot(drawn, wideWidth, { ...named, class: 'wide' }), usual]
}

function onAxis(value: number, { format, currency }: Chart, drawing: Drawing): string {
  const style =
    format === 'percent'
      ? { style: 'percent' as const }
      : format === 'currency'
        ? { style: 'currency' as const, currency: currency ?? drawing.currency }
        : {}
  return formatNumber(value, drawing.locale, { ...style, notation: 'compact', maximumFractionDigits: 1 })
}

/** Of a pie: with the value of each part. */
function legend(names: readonly string[], node?: Chart, drawing?: Drawing): ComponentChild {
  return h(
    'ul',
    { class: 'legend' },
    names.map((name, at) =>
      h(
        'li',
        null,
        h(
          'svg',
          { class: 'key', viewBox: '0 0 12 12', 'aria-hidden': 'true' },
          h('rect', { class: colourClass(at), width: 12, height: 12, rx: 3 }),
        ),
        h('span', null, name),
        node && drawing ? h('b', null, drawValue(node.series[0]?.values[at], look(node), drawing)) : null,
      ),
    ),
  )
}

function look({ format = 'number', currency }: Chart) {
  return { format, ...(currency !== undefined && { currency }) }
}

function figures(node: Chart, drawing: Drawing): ComponentChild {
  const { say } = drawing
  const head = [node.heading ?? say('chart.label'), ...node.series.map(({ name }) => name)]
  return h(
    'details',
    { class: 'as-table' },
    h('summary', null, say('chart.as_table')),
    h(
      'table',
      { class: 'table figures' },
      h('caption', { class: 'unseen' }, node.title),
      h(
        'thead',
        null,
        h(
          'tr',
          null,
          head.map((name, at) => h('th', { scope: 'col', class: at === 0 ? undefined : 'number' }, name)),
        ),
      ),
      h(
        'tbody',
        null,
        node.labels.map((label, at) =>
          h(
            'tr',
            null,
            h('th', { scope: 'row' }, label),
            node.series.map(({ values }) =>
              h('td', { class: 'number' }, drawValue(values[at], look(node), drawing)),
            ),
          ),
        ),
      ),
    ),
  )
}

/** Parts of a whole, from the top and clockwise. Values below zero have no part. */
function pie(values: readonly (number | null)[], named: Readonly<Record<string, string>>): ComponentChild {
  const parts = values.map((value) => Math.max(value ?? 0, 0))
  const whole = parts.reduce((sum, part) => sum + part, 0)
  let before = 0
  const slices = parts.flatMap((part, at) => {
    const from = before / whole
    before += part
    return part === 0
      ? []
      : [h('path', { class: `slice ${colourClass(at)}`, d: slice(from, before / whole) })]
  })
  return h('svg', { viewBox: '0 0 200 200', role: 'img', ...named }, slices)
}

/** The path of a ring's part; `from` and `to` are parts of a turn. */
function slice(from: number, to: number): string {
  // An arc cannot end where it starts.
  const end = to - from > 0.9999 ? from + 0.9999 : to
  const large = end - from > 0.5 ? 1 : 0
  const [outer, inner] = [96, 56]
  return `M${point(from, outer)}A${outer} ${outer} 0 ${large} 1 ${point(end, outer)}L${point(end, inner)}A${inner} ${inner} 0 ${large} 0 ${point(from, inner)}Z`
}

function point(turn: number, radius: number): string {
  const angle = turn * 2 * Math.PI
  return `${(100 + radius * Math.sin(angle)).toFixed(2)} ${(100 - radius * Math.cos(angle)).toFixed(2)}`
}
