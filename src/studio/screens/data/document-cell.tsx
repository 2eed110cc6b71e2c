import { Badge, Text } from '@mantine/core'
import { shortJson } from '../../controls/json/json-text.ts'
import { Time } from '../../controls/time.tsx'

interface DocumentCellProps {
  readonly name: string
  readonly value: unknown
}

/** One value in a table. What is missing and what is null look different from an empty text. */
export function DocumentCell({ name, value }: DocumentCellProps) {
  if (value === undefined)
    return (
      <Text span size="sm" c="dimmed" aria-label="missing">
        ·
      </Text>
    )
  if (value === null)
    return (
      <Text span size="sm" c="dimmed" fs="italic">
        null
      </Text>
    )
  if (value === '')
    return (
      <Text span size="sm" c="dimmed">
        “”
      </Text>
    )
  if (typeof value === 'boolean') return <Badge color={value ? 'green' : 'gray'}>{String(value)}</Badge>
  if (typeof value === 'number')
    return isTime(name, value) ? <Time at={value} exact /> : <span className="numbers">{value}</span>
  if (typeof value === 'string')
    return <span title={value.length > 80 ? value : undefined}>{shortJson(value)}</span>
  return (
    <Text span size="xs" ff="monospace" c="dimmed" title={shortJson(value, 1000)}>
      {shortJson(value, 60)}
    </Text>
  )
}

/** Unix seconds between 2001 and 2065 under a name that speaks of time; anything else is a number. */
function isTime(name: string, value: number): boolean {
  return value > 1e9 && value < 3e9 && /(_at|date|time|created|updated|due|expiry|until)$/i.test(name)
}
