import { Table, Text } from '@mantine/core'
import type { LineProblem } from '../../../../shared/api/data/documents.ts'
import { ApiError } from '../../../api/api-error.ts'
import { transferTexts } from '../../../texts/transfer.ts'
import { isFields } from '../documents/document-shape.ts'

/** The lines that a refused import lists. */
export function problemsIn(error: unknown): readonly LineProblem[] {
  const lines = error instanceof ApiError ? error.details.lines : undefined
  if (!Array.isArray(lines)) return []
  return lines.filter(isFields).map(({ line, fields, message }) => ({
    line: Number(line),
    fields: Array.isArray(fields) ? fields.map(String) : [],
    message: String(message),
  }))
}

export function LineProblems({ problems }: { readonly problems: readonly LineProblem[] }) {
  if (problems.length === 0) return null
  return (
    <Table.ScrollContainer minWidth={400} mah={240} type="native">
      <Table aria-label={transferTexts.refusedLines}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={70}>{transferTexts.line}</Table.Th>
            <Table.Th w={140}>{transferTexts.field}</Table.Th>
            <Table.Th>{transferTexts.problem}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {problems.map(({ line, fields, message }) => (
            <Table.Tr key={`${line} ${message}`}>
              <Table.Td className="numbers">{line}</Table.Td>
              <Table.Td>{fields.join(', ')}</Table.Td>
              <Table.Td>
                <Text size="sm">{message}</Text>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}
