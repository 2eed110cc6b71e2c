import { type ComponentChild, h } from 'preact'
import { colourClass } from './chart-plot.ts'

/** Parts of a whole, from the top and clockwise. Values below zero have no part. */
export function pie(
  values: readonly (number | null)[],
  named: Readonly<Record<string, string>>,
): ComponentChild {
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
