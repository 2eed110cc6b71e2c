/** Bars and lines in a frame of two axes, as SVG: a picture without script, drawn with the colours of the theme. */
import { type ComponentChild, h } from 'preact'
import { type Scale, scaleOver } from '../../shared/charts/chart-scale.ts'

// Bars that lie, each below its words: for labels that are too long to stand beside each other in a narrow picture.

const MOST = 12
/** About what a letter takes in the text size of the smallest charts. */
const smallLetter = 11.5
const side = 8
const words = 30
const bar = 22
const gap = 10
const foot = 34
const MOST_LETTERS = 48
/** Letters of a label of which the picture shows a part. */
const MOST_OF_LABEL = 200

/** Whether words would run into each other if the bars stood. `slot`: the room of one label. */
function mustLie(type: Plot['type'], labels: Plot['labels'], slot: number): boolean {
  if (type !== 'bar' || labels.length > MOST) return false
  const longest = labels
    .flatMap((label) => label.split(/\s+/))
    .reduce((most, word) => Math.max(most, word.length), 0)
  return longest * smallLetter > slot - 6
}

function lyingBars(
  { labels, series, axis }: Plot,
  width: number,
  colour: (at: number) => string,
  named: Readonly<Record<string, string>>,
): ComponentChild {
  const scale = scaleOver(series.flatMap((one) => one.values.filter((value) => value !== null)))
  const x = (value: number): number => Math.round((side + scale.place(value) * (width - 2 * side)) * 10) / 10
  const row = words + bar * series.length + gap
  const end = row * labels.length
  const last = scale.ticks.length - 1
  return h(
    'svg',
    { viewBox: `0 0 ${width} ${end + foot}`, role: 'img', ...named },
    scale.ticks.flatMap((tick, at) => [
      h('line', { class: tick === 0 ? 'axis' : 'grid', x1: x(tick), x2: x(tick), y1: 0, y2: end }),
      h(
        'text',
        { x: x(tick), y: end + 24, 'text-anchor': at === 0 ? 'start' : at === last ? 'end' : 'middle' },
        // Every other one where they are many: the picture is narrow.
        last > 3 && at % 2 === 1 ? '' : axis(tick),
      ),
    ]),
    labels.flatMap((label, at) => [
      h('text', { x: side, y: row * at + words - 8 }, cut(label)),
      ...series.flatMap((one, index) => {
        const value = one.values[at] ?? null
        if (value === null) return []
        const [left, right] = [x(Math.min(value, 0)), x(Math.max(value, 0))]
        const place = {
          x: left,
          y: row * at + words + bar * index,
          width: right - left,
          height: bar - 2,
          rx: 2,
        }
        return [h('rect', { class: `bar-mark ${colour(index)}`, ...place })]
      }),
    ]),
  )
}

function cut(label: string): string {
  return label.length <= MOST_LETTERS
    ? label
    : `${label
        .slice(0, MOST_LETTERS - 1)
        .trimEnd()
        .toWellFormed()}…`
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

/** Between two lines of a caption. */
const line = 20
const MOST_LINES = 3
/** Letters of a caption that stands in one line, and what a line must have room for to be worth wrapping. */
const MOST_IN_LINE = 14
const LEAST_WRAPPED = 8

/** The class that gives the n-th series its colour; there are six, then they come again. */
export function colourClass(at: number): string {
  return `c${(at % 6) + 1}`
}

export function plot(drawn: Plot, width: number, named: Readonly<Record<string, string>>): ComponentChild {
  const { type, series, axis } = drawn
  // What follows is for a picture; texts that clients store may be long.
  const labels = drawn.labels.map((label) => label.slice(0, MOST_OF_LABEL))
  const values = series.flatMap((one) => one.values.filter((value) => value !== null))
  const scale = scaleOver(values)
  const start = 14 + letter * Math.max(...scale.ticks.map((tick) => axis(tick).length))
  const slot = (width - start - end) / Math.max(labels.length, 1)
  if (width === usualWidth && mustLie(type, labels, slot))
    return lyingBars({ ...drawn, labels }, width, colourClass, named)
  const words = captionsFor(labels, slot)
  // Further lines make the picture higher, not the bars lower.
  const tall = height + line * (Math.max(...words.map((lines) => lines.length), 1) - 1)
  const y = (value: number): number => round(height - bottom - scale.place(value) * (height - top - bottom))
  const x = (at: number): number => start + slot * at
  return h(
    'svg',
    { viewBox: `0 0 ${width} ${tall}`, role: 'img', ...named },
    grid(scale, start, width - end, y, axis),
    type === 'bar' ? bars(series, slot, x, y) : lines(series, slot, x, y),
    captions(words, slot, x),
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

/** In lines as wide as their place, where words fit into it; else in one line, and as many as fit beside each other. */
function captionsFor(labels: readonly string[], slot: number): (readonly string[])[] {
  const room = Math.floor((slot - 6) / letter)
  if (room >= LEAST_WRAPPED) return labels.map((label) => wrapped(label, room))
  const longest = Math.min(Math.max(...labels.map((label) => label.length), 1), MOST_IN_LINE)
  const every = Math.max(1, Math.ceil((longest * letter + 8) / slot))
  return labels.map((label, at) => (at % every === 0 ? [short(label, MOST_IN_LINE)] : []))
}

/** The table under the chart has all, and whole. */
function captions(
  words: readonly (readonly string[])[],
  slot: number,
  x: (at: number) => number,
): ComponentChild[] {
  return words.flatMap((lines, at) => {
    const middle = round(x(at) + slot / 2)
    const y = height - bottom + 24
    return lines.map((words, place) =>
      h('text', { x: middle, y: y + place * line, 'text-anchor': 'middle' }, words),
    )
  })
}

/** At most three lines; a word that is longer than a line is cut. */
function wrapped(label: string, room: number): string[] {
  const lines: string[] = []
  for (const word of label.split(/\s+/)) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= room)
      lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  const shown = lines.slice(0, MOST_LINES).map((words) => short(words, room))
  const end = shown.at(-1)
  if (lines.length > MOST_LINES && end !== undefined && !end.endsWith('…'))
    shown[shown.length - 1] = short(`${end} …`, room)
  return shown
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

function short(label: string, most: number): string {
  return label.length <= most
    ? label
    : `${label
        .slice(0, most - 1)
        .trimEnd()
        .toWellFormed()}…`
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

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
