import { Anchor, Table, UnstyledButton } from '@mantine/core'
import { useElementSize } from '@mantine/hooks'
import { useId, useState } from 'react'
import { Link } from 'wouter'
import { scaleOver } from '../../../shared/charts/chart-scale.ts'
import { controlsTexts } from '../../texts/shell.ts'
import classes from './time-chart.module.css'

interface TimeChartProps {
  readonly title: string
  /** Unix seconds of the beginning of each step; all steps are of one length. */
  readonly times: readonly number[]
  readonly series: readonly TimeSeries[]
  /** A value in words, on the axis and in the table. */
  readonly say: (value: number) => string
  /** What a step leads to; undefined where there is nothing to see. */
  readonly hrefOf?: (at: number) => string | undefined
}

const height = 190
const top = 8
const bottom = 24
const letter = 7

/** Lines over time, drawn at the width that they have. The same figures are in a table below. */
export function TimeChart({ title, times, series, say, hrefOf }: TimeChartProps) {
  const { ref, width } = useElementSize()
  const scale = scaleOver(series.flatMap(({ values }) => values.filter((value) => value !== null)))
  const start = 12 + letter * Math.max(...scale.ticks.map((tick) => say(tick).length))
  const slot = Math.max(0, width - start - 6) / Math.max(1, times.length)
  const x = (at: number) => start + slot * (at + 0.5)
  const y = (value: number) => height - bottom - scale.place(value) * (height - top - bottom)
  return (
    <figure className={`surface ${classes.chart}`}>
      <figcaption className={classes.title}>{title}</figcaption>
      <ul className={classes.legend}>
        {series.map(({ name, dash, colour }) => (
          <li key={name}>
            <svg width="22" height="8" aria-hidden="true">
              <line x1="1" x2="21" y1="4" y2="4" className={classes[colour]} strokeDasharray={dash} />
            </svg>
            {name}
          </li>
        ))}
      </ul>
      <div ref={ref}>
        <svg width={width} height={height} role="img" aria-label={title} className={classes.picture}>
          {scale.ticks.map((tick) => (
            <g key={tick}>
              <line className={classes.grid} x1={start} x2={width - 6} y1={y(tick)} y2={y(tick)} />
              <text x={start - 6} y={y(tick)} dy="0.35em" textAnchor="end">
                {say(tick)}
              </text>
            </g>
          ))}
          {captions(times, slot).map((at) => (
            <text key={at} x={x(at)} y={height - 6} textAnchor="middle">
              {timeWords(times[at] ?? 0, times)}
            </text>
          ))}
          {series.map(({ name, values, colour, dash }) => (
            <path key={name} className={classes[colour]} strokeDasharray={dash} d={pathOf(values, x, y)} />
          ))}
          {times.map((at, place) => (
            <rect
              key={at}
              className={classes.step}
              x={start + slot * place}
              y={0}
              width={slot}
              height={height - bottom}
            >
              <title>{`${timeWords(at, times, true)}${series.map(({ name, values }) => `\n${name}: ${said(values[place], say)}`).join('')}`}</title>
            </rect>
          ))}
        </svg>
      </div>
      <TimeTable title={title} times={times} series={series} say={say} {...(hrefOf && { hrefOf })} />
    </figure>
  )
}

function said(value: number | null | undefined, say: (value: number) => string): string {
  return value === null || value === undefined ? '–' : say(value)
}

/** As many as fit beside each other, at even distances. */
function captions(times: readonly number[], slot: number): number[] {
  const room = 64
  const every = Math.max(1, Math.ceil(room / Math.max(slot, 0.1)))
  const isWhole = (at: number) => (times.length - at) * 2 >= every
  return times.flatMap((_, at) => (at % every === Math.floor(every / 2) && isWhole(at) ? [at] : []))
}

/** A step without a value is a gap; one alone between gaps is a short line, so that it is seen. */
function pathOf(
  values: readonly (number | null)[],
  x: (at: number) => number,
  y: (value: number) => number,
): string {
  let path = ''
  values.forEach((value, at) => {
    if (value === null) return
    const before = values[at - 1]
    const isFirst = before === null || before === undefined
    path += `${isFirst ? 'M' : 'L'}${x(at).toFixed(1)} ${y(value).toFixed(1)}`
    if (isFirst && (values[at + 1] ?? null) === null) path += 'h2'
  })
  return path
}

interface TimeTableProps {
  readonly title: string
  readonly times: readonly number[]
  readonly series: readonly TimeSeries[]
  readonly say: (value: number) => string
  readonly hrefOf?: (at: number) => string | undefined
}

/** The figures of a chart as a table, the newest first. Made when it is opened. */
function TimeTable({ title, times, series, say, hrefOf }: TimeTableProps) {
  const [isOpen, setOpen] = useState(false)
  const id = useId()
  return (
    <>
      <UnstyledButton
        className={classes.more}
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setOpen(!isOpen)}
      >
        {isOpen ? controlsTexts.hideTheTable : controlsTexts.showAsATable}
      </UnstyledButton>
      <section
        id={id}
        aria-label={controlsTexts.asATable(title)}
        hidden={!isOpen}
        className={classes.table}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
      >
        {isOpen ? (
          <FigureTable title={title} times={times} series={series} say={say} {...(hrefOf && { hrefOf })} />
        ) : null}
      </section>
    </>
  )
}

/** A row for each step, and a column for each series. */
function FigureTable({ title, times, series, say, hrefOf }: TimeTableProps) {
  return (
    <Table aria-label={title}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{controlsTexts.from}</Table.Th>
          {series.map(({ name }) => (
            <Table.Th key={name} ta="right">
              {name}
            </Table.Th>
          ))}
          {hrefOf ? <Table.Th>{controlsTexts.log}</Table.Th> : null}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody className="numbers">
        {times
          .map((at, place) => ({ at, place, href: hrefOf?.(at) }))
          .toReversed()
          .map(({ at, place, href }) => (
            <Table.Tr key={at}>
              <Table.Td>{timeWords(at, times, true)}</Table.Td>
              {series.map(({ name, values }) => (
                <Table.Td key={name} ta="right">
                  {values[place] === null || values[place] === undefined ? '–' : say(values[place])}
                </Table.Td>
              ))}
              {hrefOf ? (
                <Table.Td>
                  {href === undefined ? null : (
                    <Anchor component={Link} href={href} size="sm">
                      {controlsTexts.errorsOfThisTime}
                    </Anchor>
                  )}
                </Table.Td>
              ) : null}
            </Table.Tr>
          ))}
      </Table.Tbody>
    </Table>
  )
}

export interface TimeSeries {
  readonly name: string
  /** One for each step; null where nothing was measured. */
  readonly values: readonly (number | null)[]
  readonly colour: 'calm' | 'warm' | 'bad'
  /** Told apart without colours. */
  readonly dash?: string
}

const DAY = 86_400

/** The time of a step: with its day where the steps span more than one. */
export function timeWords(at: number, times: readonly number[], whole = false): string {
  const [first = 0] = times
  const span = (times.at(-1) ?? 0) - first
  const time = { hour: '2-digit', minute: '2-digit' } as const
  const day = { weekday: 'short', day: 'numeric' } as const
  const requested = whole ? { ...day, month: 'short' as const, ...time } : span > DAY ? day : time
  return new Date(at * 1000).toLocaleString(undefined, requested)
}
