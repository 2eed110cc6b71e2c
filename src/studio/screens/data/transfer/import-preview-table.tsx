import { NativeSelect, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ImportPreview } from '../../../../shared/api/data/documents.ts'
import { fieldsQuery } from '../../../api/storages.ts'
import { transferTexts } from '../../../texts/transfer.ts'
import { valueAt } from '../documents/document-shape.ts'
import { copiedText } from '../grid/cell-text.ts'
import type { ImportDraft } from './import-file.ts'

interface PreviewProps {
  /** Its name. */
  readonly storage: string
  readonly preview: ImportPreview
  readonly mapping: ImportDraft['mapping']
  readonly onMap: (column: string, field: string | null) => void
}

/** Rows of a document's preview, where each column goes, and what was recognised of the file. */
export function ImportPreviewTable(props: PreviewProps) {
  const { dialect } = props.preview
  return (
    <>
      {dialect ? (
        <Text size="xs" c="dimmed">
          {recognised(dialect)}
        </Text>
      ) : null}
      <PreviewTable {...props} />
    </>
  )
}

function PreviewTable({ storage, preview, mapping, onMap }: PreviewProps) {
  const { data: fields = [] } = useQuery({ ...fieldsQuery(storage), retry: false })
  const { columns, rows } = preview
  const names = fields.map(({ name }) => name)
  const shown =
    columns.length > 0
      ? columns.map(({ column, field }) => ({ column, field }))
      : [...new Set(rows.flatMap(({ document = {} }) => Object.keys(document)))].map((field) => ({
          column: '',
          field,
        }))
  return (
    <Table.ScrollContainer minWidth={Math.max(400, shown.length * 140)} mah={320} type="native">
      <Table aria-label={transferTexts.preview} withTableBorder>
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={60}>{transferTexts.line}</Table.Th>
            {shown.map(({ column, field }, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a file may name two columns alike
              <Table.Th key={i}>
                {column === '' ? (
                  field
                ) : (
                  <NativeSelect
                    size="xs"
                    label={column}
                    value={(Object.hasOwn(mapping, column) ? mapping[column] : field) ?? ''}
                    data={choices(names, column, field)}
                    onChange={(event) => onMap(column, event.currentTarget.value || null)}
                  />
                )}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(({ line, document, problem }) => (
            <Table.Tr key={line}>
              <Table.Td className="numbers">{line}</Table.Td>
              {problem ? (
                <Table.Td colSpan={shown.length}>
                  <Text size="sm" c="red">
                    {problem.message}
                  </Text>
                </Table.Td>
              ) : (
                shown.map(({ field }, i) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: as above
                  <Table.Td key={i}>{field === null ? '' : short(valueAt(document ?? {}, field))}</Table.Td>
                ))
              )}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

function recognised(dialect: NonNullable<ImportPreview['dialect']>): string {
  const { format, encoding = '', separator = '', sheet = '', dates_from: year = 1900 } = dialect
  return format === 'csv'
    ? transferTexts.readAsCsv(encoding, separator)
    : transferTexts.readAsSheet(sheet, year)
}

function choices(names: readonly string[], column: string, field: string | null) {
  const offered = [...new Set([...names, ...(field === null ? [] : [field]), column])]
  return [
    { value: '', label: transferTexts.leftOut },
    ...offered.filter((name) => name !== '').map((name) => ({ value: name, label: name })),
  ]
}

function short(value: unknown): string {
  return copiedText(value).slice(0, 60)
}
