import { Code, Table, Text } from '@mantine/core'
import { type ApiDocument, type Schema, schemaFields, typeWords } from '../../api/open-api.ts'
import { referenceTexts } from '../../texts/reference.ts'

interface SchemaTableProps {
  readonly schema: Schema
  readonly document: ApiDocument
  readonly label: string
}

export function SchemaTable({ schema, document, label }: SchemaTableProps) {
  const fields = schemaFields(schema, document)
  if (fields.length === 0) return <Code>{typeWords(schema, document)}</Code>
  return (
    <div className="surface">
      <Table aria-label={label}>
        <Table.Tbody>
          {fields.map(({ name, type, required, description }) => (
            <Table.Tr key={name}>
              <Table.Td w="34%" style={{ verticalAlign: 'top', overflowWrap: 'anywhere' }}>
                <Text span size="sm" ff="monospace">
                  {name}
                </Text>
                {required ? (
                  <Text span size="xs" c="dimmed" ml={6}>
                    {referenceTexts.needed}
                  </Text>
                ) : null}
              </Table.Td>
              <Table.Td w="22%" style={{ verticalAlign: 'top', overflowWrap: 'anywhere' }}>
                <Text size="xs" ff="monospace" c="dimmed">
                  {type}
                </Text>
              </Table.Td>
              <Table.Td>
                <Text size="sm">{description.replaceAll('`', '')}</Text>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  )
}
