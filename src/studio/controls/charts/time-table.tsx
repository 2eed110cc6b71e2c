import { Anchor, Table, UnstyledButton } from '@mantine/core'
import { useId, useState } from 'react'
import { Link } from 'wouter'
import { controlsTexts } from '../../texts/controls.ts'
import classes from './time-chart.module.css'
import { type TimeSeries, timeWords } from './time-series.ts'

interface TimeTableProps {
  readonly title: string
  readonly times: readonly number[]
  readonly series: readonly TimeSeries[]
  readonly say: (value: number) => string
  readonly hrefOf?: (at: number) => string | undefined
}

/** The figures of a chart as a table, the newest first. Made when it is opened. */
export function TimeTable({ title, times, series, say, hrefOf }: TimeTableProps) {
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
        ) : null}
      </section>
    </>
  )
}
