/** Bars and lines in a frame of two axes, as SVG: a picture without script, drawn with the colours of the theme. */
import { type ComponentChild, h } from 'preact'
import { type Scale, scaleOver } from './chart-scale.ts'

export interface Series {
  readonly name: string
  readonly values: readonly (number | null)[]
}

export interface Plot {
  readonly type: 'bar' | 'line'
  readonly labels: readonly string[]
  readonly series: readonly Series[]
  /** How a number on the axis is written: short. */
  axis(value: number): string
}

const height = 270
const top = 12
const bottom = 40
const end = 8
/** Of the picture, in its own units: it grows and shrinks with the page. */
export const usualWidth = 600
export const wideWidth = 1150
/** About what a letter takes, between the text sizes that the style sheet sets for small and large charts. */
const letter = 8

/** The class that gives the n-th series its colour; there are six, then they come again. */
export function colourClass(at: number): string {
  return `c${(at % 6) + 1}`
}

export function plot(
  { type, labels, series, axis }: Plot,
  width: number,
  named: Readonly<Record<string, string>>,
): ComponentChild {
  const values = series.flatMap((one) => one.values.filter((value) => value !== null))
  const scale = scaleOver(values)
  const start = 14 + letter * Math.max(...scale.ticks.map((tick) => axis(tick).length))
  const y = (value: number): number => round(height - bottom - scale.place(value) * (height - top - bottom))
  const slot = (width - start - end) / Math.max(labels.length, 1)
  const x = (at: number): number => start + slot * at
  return h(
    'svg',
    { viewBox: `0 0 ${width} ${height}`, role: 'img', ...named },
    grid(scale, start, width - end, y, axis),
    type === 'bar' ? bars(series, slot, x, y) : lines(series, slot, x, y),
    captions(labels, slot, x),
  )
}

function grid(
  scale: Scale,
  start: number,
  right: number,
  y: (value: number) => number,
  axis: Plot['axis'],
): ComponentChild[] {
  return scale.ticks.flatMap((tick) => [
    h('line', { class: tick === 0 ? 'axis' : 'grid', x1: start, x2: right, y1: y(tick), y2: y(tick) }),
    h('text', { x: start - 8, y: y(tick), dy: '0.35em', 'text-anchor': 'end' }, axis(tick)),
  ])
}

/** As many as fit beside each other; the table under the chart has all. */
function captions(labels: readonly string[], slot: number, x: (at: number) => number): ComponentChild[] {
  const longest = Math.min(Math.max(...labels.map((label) => label.length), 1), 14)
  const every = Math.max(1, Math.ceil((longest * letter + 8) / slot))
  return labels.flatMap((label, at) =>
    at % every === 0
      ? [
          h(
            'text',
            { x: round(x(at) + slot / 2), y: height - bottom + 24, 'text-anchor': 'middle' },
            short(label),
          ),
        ]
      : [],
  )
}

function bars(
  series: readonly Series[],
  slot: number,
  x: (at: number) => number,
  y: (value: number) => number,
): ComponentChild[] {
  const room = Math.min(slot * 0.72, 56 * series.length)
  const bar = room / series.length
  return series.flatMap((one, index) =>
    one.values.flatMap((value, at) => {
      if (value === null) return []
      const left = x(at) + (slot - room) / 2 + bar * index
      const [upper, lower] = [y(Math.max(value, 0)), y(Math.min(value, 0))]
      const size = {
        x: round(left),
        y: upper,
        width: round(Math.max(bar - 2, 1)),
        height: round(lower - upper),
        rx: 2,
      }
      return [h('rect', { class: `bar-mark ${colourClass(index)}`, ...size })]
    }),
  )
}

/** A gap in the values is a gap in the line. */
function lines(
  series: readonly Series[],
  slot: number,
  x: (at: number) => number,
  y: (value: number) => number,
): ComponentChild[] {
  const middle = (at: number): number => round(x(at) + slot / 2)
  return series.flatMap((one, index) => {
    const pieces = runsOf(one.values)
    const colour = colourClass(index)
    return pieces.flatMap((points) => {
      const path = points
        .map(({ at, value }, place) => `${place === 0 ? 'M' : 'L'}${middle(at)} ${y(value)}`)
        .join('')
      const [first, last] = [points[0], points.at(-1)]
      const area =
        first && last && series.length === 1
          ? `${path}L${middle(last.at)} ${y(0)}L${middle(first.at)} ${y(0)}Z`
          : undefined
      const dots = points.length === 1 || one.values.length <= 24
      return [
        area === undefined ? null : h('path', { class: `area ${colour}`, d: area }),
        h('path', { class: `line ${colour}`, d: path }),
        ...(dots
          ? points.map(({ at, value }) => h('circle', { class: colour, cx: middle(at), cy: y(value), r: 3 }))
          : []),
      ].filter((drawn) => drawn !== null)
    })
  })
}

function runsOf(values: readonly (number | null)[]): { at: number; value: number }[][] {
  const pieces: { at: number; value: number }[][] = []
  let open: { at: number; value: number }[] | undefined
  values.forEach((value, at) => {
    if (value === null) {
      open = undefined
      return
    }
    if (!open) {
      open = []
      pieces.push(open)
    }
    open.push({ at, value })
  })
  return pieces
}

function short(label: string): string {
  return label.length <= 14 ? label : `${label.slice(0, 13).toWellFormed()}…`
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
