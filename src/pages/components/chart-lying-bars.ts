/** Bars that lie, each below its words: for labels that are too long to stand beside each other in a narrow picture. */
import { type ComponentChild, h } from 'preact'
import { scaleOver } from '../../shared/charts/chart-scale.ts'
import type { Plot } from './chart-series.ts'

const MOST = 12
/** About what a letter takes in the text size of the smallest charts. */
const letter = 11.5
const side = 8
const words = 30
const bar = 22
const gap = 10
const foot = 34
const MOST_LETTERS = 48

/** Whether words would run into each other if the bars stood. `slot`: the room of one label. */
export function mustLie({ type, labels }: Plot, slot: number): boolean {
  const longest = Math.max(...labels.flatMap((label) => label.split(/\s+/)).map((word) => word.length), 0)
  return type === 'bar' && labels.length <= MOST && longest * letter > slot - 6
}

export function lyingBars(
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
