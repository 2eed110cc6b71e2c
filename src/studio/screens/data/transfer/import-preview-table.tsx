import { Group, NativeSelect, NumberInput, Stack, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { ImportPreview } from '../../../../shared/api/data/documents.ts'
import { type ColumnFormat, columnFormats } from '../../../../shared/rows/recognized-table.ts'
import { fieldsQuery } from '../../../api/storages.ts'
import { transferTexts } from '../../../texts/documents.ts'
import { valueAt } from '../documents/document-shape.ts'
import { copiedText } from '../grid/cell-text.ts'
import type { FileReading } from './import-file.ts'

interface PreviewProps {
  /** Its name. */
  readonly storage: string
  readonly preview: ImportPreview
  readonly reading: FileReading
  readonly onRead: (reading: FileReading) => void
}

/** What was recognized of a file, what its first rows become, and where each column goes. */
export function ImportPreviewTable(props: PreviewProps) {
  return (
    <>
      <FilePlace {...props} />
      <PreviewTable {...props} />
    </>
  )
}

const MOST_HEADER = 10_000

/** The sheet and the line of the names. Other ones have other columns, so that what was said of those is forgotten. */
function FilePlace({ preview, reading, onRead }: PreviewProps) {
  const { dialect, header } = preview
  if (!dialect) return null
  const { sheets = [], sheet = '' } = dialect
  const place = (next: Pick<FileReading, 'sheet' | 'header'>) => onRead({ ...next, mapping: {}, formats: {} })
  return (
    <Group gap="sm" align="flex-end">
      {sheets.length > 1 ? (
        <NativeSelect
          size="xs"
          label={transferTexts.sheet}
          value={sheet}
          data={[...sheets]}
          onChange={(event) => place({ sheet: event.currentTarget.value })}
        />
      ) : null}
      <NumberInput
        size="xs"
        w={150}
        label={transferTexts.lineOfNames}
        min={1}
        max={MOST_HEADER}
        allowDecimal={false}
        value={reading.header ?? header ?? 1}
        onChange={(line) => {
          if (typeof line !== 'number' || line < 1 || line > MOST_HEADER) return
          place({ ...(reading.sheet !== undefined && { sheet: reading.sheet }), header: line })
        }}
      />
      <Text size="xs" c="dimmed" pb={6}>
        {recognised(dialect)}
      </Text>
    </Group>
  )
}

function PreviewTable({ storage, preview, reading, onRead }: PreviewProps) {
  const { data: fields = [] } = useQuery({ ...fieldsQuery(storage), retry: false })
  const { columns, rows } = preview
  const names = fields.map(({ name }) => name)
  const references = new Set(fields.filter(({ reference }) => reference).map(({ name }) => name))
  const { mapping, formats } = reading
  const shown =
    columns.length > 0
      ? columns
      : [...new Set(rows.flatMap(({ document = {} }) => Object.keys(document)))].map((field) => ({
          column: '',
          field,
        }))
  return (
    <Table.ScrollContainer minWidth={Math.max(300, shown.length * 140)} mah={320} type="native">
      <Table aria-label={transferTexts.preview} withTableBorder>
        <Table.Thead>
          <Table.Tr>
            <Table.Th w={60}>{transferTexts.line}</Table.Th>
            {shown.map((one, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a file may name two columns alike
              <Table.Th key={at} style={{ verticalAlign: 'top', minWidth: 130 }}>
                {columns.length === 0 ? (
                  one.field
                ) : (
                  <ImportColumn
                    found={one}
                    at={at}
                    names={names}
                    reading={reading}
                    onMap={(field) => onRead({ ...reading, mapping: { ...mapping, [one.column]: field } })}
                    onFormat={(format) =>
                      onRead({ ...reading, formats: { ...formats, [one.column]: format } })
                    }
                  />
                )}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <PreviewRow key={row.line} row={row} columns={shown} references={references} />
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}

interface RowProps {
  readonly row: ImportPreview['rows'][number]
  readonly columns: readonly { readonly field: string | null }[]
  /** Fields that are shown by the names which the file has. */
  readonly references: ReadonlySet<string>
}

function PreviewRow({ row, columns, references }: RowProps) {
  const { line, document, problem, cells } = row
  const reasons = problem?.reasons ?? {}
  const wrong = Object.keys(reasons)
  const hasColumn = (name: string) =>
    columns.some(({ field }) => field === name || field?.split('.')[0] === name)
  const isPlaced = cells && wrong.length > 0 && wrong.every(hasColumn)
  return (
    <Table.Tr>
      <Table.Td className="numbers">{line}</Table.Td>
      {problem && !isPlaced ? (
        <Table.Td colSpan={columns.length}>
          <Text size="sm" c="red">
            {problem.message}
          </Text>
        </Table.Td>
      ) : (
        columns.map(({ field }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: as above
          <Table.Td key={at} dir="auto">
            {field === null && !problem
              ? ''
              : short(
                  cells && (problem || references.has(field?.split('.')[0] ?? ''))
                    ? cells[at]
                    : valueAt(document ?? {}, field ?? ''),
                )}
            <Reason
              text={field === null ? undefined : (reasons[field] ?? reasons[field.split('.')[0] ?? ''])}
            />
          </Table.Td>
        ))
      )}
    </Table.Tr>
  )
}

function Reason({ text }: { readonly text: string | undefined }) {
  if (text === undefined) return null
  return (
    <Text size="xs" c="red">
      {text}
    </Text>
  )
}

function recognised(dialect: NonNullable<ImportPreview['dialect']>): string {
  const { format, encoding = '', separator = '', sheet = '', dates_from: year = 1900 } = dialect
  return format === 'csv'
    ? transferTexts.readAsCsv(encoding, separator)
    : transferTexts.readAsSheet(sheet, year)
}

function short(value: unknown): string {
  return copiedText(value).slice(0, 60)
}

type FoundColumn = ImportPreview['columns'][number]

interface ImportColumnProps {
  readonly found: FoundColumn
  /** Its place, from 0. */
  readonly at: number
  /** Of the fields of the storage. */
  readonly names: readonly string[]
  readonly reading: FileReading
  readonly onMap: (field: string | null) => void
  readonly onFormat: (format: ColumnFormat) => void
}

/** Where a column of a file goes, and how its numbers or days are read. */
function ImportColumn({ found, at, names, reading, onMap, onFormat }: ImportColumnProps) {
  const { column, field } = found
  const { mapping } = reading
  const isNamed = column.trim() !== ''
  const isMapped = Object.hasOwn(mapping, column)
  const chosen = isMapped ? mapping[column] : field
  return (
    <Stack gap={4}>
      <NativeSelect
        size="xs"
        label={isNamed ? column.slice(0, 60) : transferTexts.unnamedColumn(at + 1)}
        value={isNamed || isMapped ? (chosen ?? '') : UNNAMED}
        data={isNamed ? choices(names, column, field) : unnamed(isMapped)}
        onChange={(event) => onMap(event.currentTarget.value || null)}
      />
      <Format found={found} chosen={formatOf(reading, column)} onFormat={onFormat} />
    </Stack>
  )
}

function formatOf({ formats }: FileReading, column: string): ColumnFormat | undefined {
  return Object.hasOwn(formats, column) ? formats[column] : undefined
}

function choices(names: readonly string[], column: string, field: string | null) {
  const offered = [...new Set([...names, ...(field === null ? [] : [field]), column])]
  return [
    { value: '', label: transferTexts.leftOut },
    ...offered.filter((name) => name !== '').map((name) => ({ value: name, label: name })),
  ]
}

const UNNAMED = ' '

/** A column without a name must be empty, unless it is said to be left out. */
function unnamed(isLeftOut: boolean) {
  return isLeftOut
    ? [{ value: '', label: transferTexts.leftOut }]
    : [
        { value: UNNAMED, label: transferTexts.mustBeEmpty },
        { value: '', label: transferTexts.leftOut },
      ]
}

interface FormatProps {
  readonly found: FoundColumn
  readonly chosen: ColumnFormat | undefined
  readonly onFormat: (format: ColumnFormat) => void
}

function Format({ found: { column, format }, chosen, onFormat }: FormatProps) {
  if (!format) return null
  const { sample, readings } = format
  const value = chosen ?? format.format
  const isOfNumbers = readings.some((one) => one.format === 'point' || one.format === 'comma')
  const offered = columnFormats.filter((one) => (one === 'point' || one === 'comma') === isOfNumbers)
  return (
    <>
      <NativeSelect
        size="xs"
        aria-label={transferTexts.formatOf(column)}
        error={value === undefined}
        value={value ?? ''}
        data={[
          ...(value === undefined ? [{ value: '', label: transferTexts.chooseFormat }] : []),
          ...offered.map((one) => ({ value: one, label: transferTexts.formats[one] })),
        ]}
        onChange={(event) => {
          const next = columnFormats.find((one) => one === event.currentTarget.value)
          if (next) onFormat(next)
        }}
      />
      {readings
        .filter((one) => value === undefined || one.format === value)
        .map((one) => (
          <Text key={one.format} size="xs" c={value === undefined ? 'red' : 'dimmed'} fw={400}>
            {transferTexts.reading(sample, one.value === null ? undefined : String(one.value))}
          </Text>
        ))}
    </>
  )
}
