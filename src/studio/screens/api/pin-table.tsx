import { Badge, Table, Text, Title } from '@mantine/core'
import type { InPin } from '../../../shared/api/blocks/blocks.ts'
import { shortJson } from '../../controls/json/json-text.ts'
import { referenceTexts } from '../../texts/reference.ts'
import classes from './pin-table.module.css'

interface PinTableProps {
  readonly title: string
  readonly pins: Readonly<Record<string, InPin>>
}

export function PinTable({ title, pins }: PinTableProps) {
  const rows = Object.entries(pins)
  if (rows.length === 0) return null
  return (
    <section>
      <Title order={3} size="h5" mb="xs">
        {title}
      </Title>
      <div className="surface">
        <Table aria-label={title}>
          <Table.Tbody>
            {rows.map(([name, pin]) => (
              <Table.Tr key={name} className={classes.row}>
                <Table.Td w="26%">
                  <Text span size="sm" ff="monospace">
                    {name}
                  </Text>
                  {pin.required ? (
                    <Text span size="xs" c="dimmed" ml={6}>
                      {referenceTexts.needed}
                    </Text>
                  ) : null}
                </Table.Td>
                <Table.Td w="16%">
                  <Badge color={pin.type === 'flow' ? 'sand' : 'gray'} miw="max-content">
                    {pin.type}
                  </Badge>
                </Table.Td>
                <Table.Td>
                  <Text size="sm">
                    {pin.help}
                    {pin.default === undefined ? '' : referenceTexts.default(shortJson(pin.default))}
                  </Text>
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </div>
    </section>
  )
}
