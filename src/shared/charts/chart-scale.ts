/** Where values lie on the axis of a chart, between round numbers. */
export interface Scale {
  readonly low: number
  readonly high: number
  readonly ticks: readonly number[]
  /** 0 at `low`, 1 at `high`. */
  place(value: number): number
}

/** A scale over all values and zero, with about five round steps; whole ones where all values are whole, as counts are. */
export function scaleOver(values: readonly number[]): Scale {
  const lowest = Math.min(0, ...values)
  const highest = Math.max(0, ...values) || (lowest === 0 ? 1 : 0)
  const span = highest - lowest
  const rough = span / 4
  const power = 10 ** Math.floor(Math.log10(rough))
  const areWhole = values.every(Number.isInteger)
  const steps = [1, 2, 2.5, 5, 10].map((factor) => factor * power)
  const step =
    steps.find((size) => size >= rough && (!areWhole || Number.isInteger(size))) ?? Math.max(rough, 1)
  const low = Math.floor(lowest / step) * step
  const high = Math.max(Math.ceil(highest / step) * step, low + step)
  const count = Math.min(Math.round((high - low) / step), 12)
  const ticks = Array.from({ length: count + 1 }, (_, at) => Number((low + at * step).toPrecision(12)))
  return { low, high, ticks, place: (value) => (value - low) / (high - low) }
}

/** How far back figures over time go. The studio loads this list, so it stands apart from the schemas of the API. */
export const figureRanges = ['hour', 'day', 'week'] as const
export type FigureRange = (typeof figureRanges)[number]
