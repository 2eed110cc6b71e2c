import { Autocomplete, Button, Group, Paper, Stack, Text, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import type { FieldRecord } from '../../../../shared/api/blueprints/blueprint-fields.ts'
import { transferTexts } from '../../../texts/documents.ts'
import { useOfferedDocuments } from '../grid/use-offered-documents.ts'
import {
  alikeLines,
  cellText,
  type LineView,
  viewOf,
  type WrongCell,
  type WrongLine,
  type WrongLines,
  withAlike,
  withCell,
} from './wrong-lines.ts'

interface WrongLineProps {
  readonly line: WrongLine
  readonly lines: WrongLines
  /** Of the storage. */
  readonly fields: readonly FieldRecord[]
  readonly onChange: (lines: WrongLines) => void
}

/** A line of a file: its wrong cells to be mended, and the others for reading. */
export function WrongLineCard({ line, lines, fields, onChange }: WrongLineProps) {
  const view = viewOf(lines, line)
  return (
    <Paper withBorder p="xs" component="li" style={{ listStyle: 'none' }}>
      <Stack gap={6}>
        <Text size="sm" fw={600} className="numbers">
          {transferTexts.lineOfFile(line.line.toLocaleString())}
        </Text>
        {view.others.map((reason) => (
          <Text key={reason} size="sm" c="red" style={{ overflowWrap: 'anywhere' }}>
            {reason}
          </Text>
        ))}
        <Group gap="sm" align="flex-start">
          {view.wrong.map((cell) => (
            <Stack key={cell.at} gap={4} flex="1 1 240px">
              <WrongCellInput
                cell={cell}
                line={line.line}
                text={cellText(line, cell.at)}
                field={fields.find(({ name }) => name === cell.field)}
                onChange={(text) => onChange(withCell(lines, line.line, cell.at, text))}
              />
              <Alike line={line} lines={lines} cell={cell} onChange={onChange} />
            </Stack>
          ))}
        </Group>
        <Rest line={line} lines={lines} view={view} />
      </Stack>
    </Paper>
  )
}

interface AlikeProps extends Pick<WrongLineProps, 'line' | 'lines' | 'onChange'> {
  readonly cell: WrongCell
}

/** Offers to mend the other lines that have the same wrong text. */
function Alike({ line, lines, cell: { at }, onChange }: AlikeProps) {
  if (line.mended[at] === undefined) return null
  const alike = alikeLines(lines, line, at).length
  if (alike === 0) return null
  const text = String(line.cells[at] ?? '')
  return (
    <Button variant="light" size="compact-xs" onClick={() => onChange(withAlike(lines, line, at))}>
      {transferTexts.alsoIn(alike.toLocaleString(), alike, text.slice(0, 30))}
    </Button>
  )
}

const MOST_CHARACTERS = 60

function Rest({ line, lines, view }: Pick<WrongLineProps, 'line' | 'lines'> & { readonly view: LineView }) {
  const wrong = new Set(view.wrong.map(({ at }) => at))
  const rest = lines.columns.flatMap(({ column }, at) => {
    const text = cellText(line, at).slice(0, MOST_CHARACTERS)
    return wrong.has(at) || text.trim() === '' ? [] : [{ at, column, text }]
  })
  if (rest.length === 0) return null
  return (
    <Text size="xs" c="dimmed" lineClamp={2} style={{ overflowWrap: 'anywhere' }}>
      {rest.map(({ at, column, text }) => (
        <span key={at}>
          {at === rest[0]?.at ? '' : ' · '}
          {column}: <bdi>{text}</bdi>
        </span>
      ))}
    </Text>
  )
}

interface WrongCellProps {
  readonly cell: WrongCell
  readonly line: number
  readonly text: string
  readonly field: FieldRecord | undefined
  readonly onChange: (text: string) => void
}

/** The text of a wrong cell. Behind a field that refers to others are their names, to choose from. */
function WrongCellInput({ cell, line, text, field, onChange }: WrongCellProps) {
  const { column, reason } = cell
  const props = {
    size: 'sm',
    label: column === '' ? transferTexts.wholeLine : column.slice(0, 60),
    'aria-label': transferTexts.cellOf(column, line),
    value: text,
    error: reason || undefined,
    dir: 'auto',
  } as const
  const storage = field?.reference?.storage
  if (column === '')
    return (
      <Textarea {...props} autosize maxRows={6} onChange={(event) => onChange(event.currentTarget.value)} />
    )
  if (storage !== undefined) return <NameInput {...props} storage={storage} onChange={onChange} />
  return <TextInput {...props} onChange={(event) => onChange(event.currentTarget.value)} />
}

interface NameProps {
  readonly storage: string
  readonly value: string
  readonly onChange: (text: string) => void
}

/** What is offered is asked for when the field is entered: a page has many of them. */
function NameInput({ storage, ...props }: NameProps) {
  const [isOpen, setOpen] = useState(false)
  const { offered } = useOfferedDocuments(storage, props.value, isOpen)
  const names = [...new Set(offered.map(({ label }) => label))]
  return (
    <Autocomplete {...props} data={names} filter={({ options }) => options} onFocus={() => setOpen(true)} />
  )
}
