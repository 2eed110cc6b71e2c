import { Button, Group, Select, SimpleGrid, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldsQuery, inOrder, storageNamesQuery } from '../../api/storages.ts'
import { FormDialog } from '../../controls/form-dialog.tsx'
import { Icon } from '../../controls/icon.tsx'
import { figureTexts } from '../../texts/canvas.ts'
import { useEditor, useEditorState } from '../state/editor-context.ts'
import {
  canGroup,
  canMeasure,
  firstFigure,
  isMoney,
  isTime,
  type KnownField,
  partFor,
  titleOf,
} from './figure-fields.ts'
import {
  chartTypes,
  columnsOf,
  type FigureDraft,
  figures,
  missingOf,
  parts,
  readFigure,
  storageNear,
  withFigure,
} from './page-figure.ts'

/** Asks what a chart or a card shows, by lists, and makes what it needs. */
export function FigureDialog() {
  const editor = useEditor()
  const dialog = useEditorState((state) => state.dialog)
  const block = dialog?.kind === 'figure' ? dialog.block : undefined
  return block === undefined ? null : (
    <Opened key={block} block={block} onClose={() => editor.set({ dialog: undefined })} />
  )
}

const noFields: readonly KnownField[] = []

function Opened({ block, onClose }: { readonly block: string; readonly onClose: () => void }) {
  const editor = useEditor()
  const { flow } = editor.store.getState().drawing
  const isChart = flow.get(block)?.type === 'state_chart'
  const [begun] = useState(() => ({ storage: storageNear(flow, block), ...readFigure(flow, block) }))
  const [chosen, choose] = useState<Partial<FigureDraft>>({})
  const storage = chosen.storage ?? begun.storage
  const { data: known } = useQuery({ ...fieldsQuery(storage), enabled: storage !== '' })
  const fields = known ? inOrder(known) : noFields
  const before = storage === begun.storage ? begun : {}
  const draft: FigureDraft = {
    ...{ title: '', type: 'bar', ...firstFigure(fields, isChart), ...before, ...chosen, storage },
  }
  const submit = async () => {
    if (missingOf(draft, isChart).length > 0) throw new Error(figureTexts.missing)
    const { drawing, catalogue } = editor.store.getState()
    const title = draft.title.trim() === '' ? titleOf(draft, fields) : draft.title
    const money = fields.find(({ name }) => name === draft.field)
    const set = { ...draft, title, isMoney: draft.figure.startsWith('count') ? false : isMoney(money) }
    const next = withFigure(drawing.flow, catalogue, block, set, editor.newGuid)
    if (!next) throw new Error(figureTexts.noWay)
    editor.run(isChart ? figureTexts.chart : figureTexts.card, () => next)
  }
  const { label, value } = columnsOf(draft)
  return (
    <FormDialog
      opened
      onClose={onClose}
      title={isChart ? figureTexts.chart : figureTexts.card}
      action={figureTexts.set}
      submit={submit}
    >
      <Choices
        draft={draft}
        fields={fields}
        isChart={isChart}
        change={(part) => choose({ ...chosen, ...part })}
        // Fields of another storage are others: only the title and the kind stay.
        onStorage={(one) => choose({ storage: one, title: draft.title, type: draft.type })}
      />
      <TextInput
        label={figureTexts.title}
        placeholder={titleOf(draft, fields)}
        // Enter sets what is proposed.
        data-autofocus
        value={draft.title}
        onChange={(event) => choose({ ...chosen, title: event.currentTarget.value })}
      />
      <Text size="xs" c="dimmed">
        {figureTexts.columns(isChart ? [label, value] : [value])}
      </Text>
    </FormDialog>
  )
}

interface ChoicesProps {
  readonly draft: FigureDraft
  readonly fields: readonly KnownField[]
  readonly isChart: boolean
  readonly change: (part: Partial<FigureDraft>) => void
  readonly onStorage: (storage: string) => void
}

function Choices({ draft, fields, isChart, change, onStorage }: ChoicesProps) {
  const { data: storages = [] } = useQuery(storageNamesQuery)
  const measured = fields.filter((field) => canMeasure(draft.figure, field))
  return (
    <>
      <Group grow align="flex-start">
        <Select
          label={figureTexts.storage}
          data={storages.map(({ name }) => name)}
          searchable
          required
          value={draft.storage === '' ? null : draft.storage}
          onChange={(storage) => {
            if (storage !== null && storage !== draft.storage) onStorage(storage)
          }}
        />
        {isChart ? (
          <Select
            label={figureTexts.type}
            data={chartTypes.map((type) => ({ value: type, label: figureTexts.types[type] }))}
            value={draft.type}
            onChange={(type) => change({ type: chartTypes.find((one) => one === type) ?? 'bar' })}
          />
        ) : null}
      </Group>
      {isChart ? <GroupChoices draft={draft} fields={fields} change={change} /> : null}
      <SimpleGrid cols={2}>
        <Select
          label={figureTexts.figure}
          data={figures.map((figure) => ({ value: figure, label: figureTexts.figures[figure] }))}
          value={draft.figure}
          onChange={(one) => {
            const figure = figures.find((known) => known === one) ?? 'count'
            const isFitting = fields.some((field) => field.name === draft.field && canMeasure(figure, field))
            const [first] = fields.filter((field) => canMeasure(figure, field))
            change({ figure, field: isFitting ? draft.field : (first?.name ?? '') })
          }}
        />
        {draft.figure === 'count' ? null : (
          <FieldSelect
            label={figureTexts.of}
            fields={measured}
            value={draft.field}
            onChange={(field) => change({ field })}
          />
        )}
      </SimpleGrid>
    </>
  )
}

/** What makes a group: a field, and of a time its part. */
function GroupChoices({ draft, fields, change }: Pick<ChoicesProps, 'draft' | 'fields' | 'change'>) {
  const fieldNamed = (name: string) => fields.find((field) => field.name === name)
  return (
    <SimpleGrid cols={2}>
      <FieldSelect
        label={figureTexts.group}
        fields={fields.filter(canGroup)}
        value={draft.group}
        onChange={(group) => change({ group, part: partFor(fieldNamed(group)) })}
      />
      {isTime(fieldNamed(draft.group)) ? (
        <Select
          label={figureTexts.part}
          data={parts.map((part) => ({ value: part, label: figureTexts.parts[part] }))}
          value={draft.part}
          onChange={(part) => change({ part: parts.find((one) => one === part) ?? '' })}
        />
      ) : null}
    </SimpleGrid>
  )
}

interface FieldSelectProps {
  readonly label: string
  readonly fields: readonly KnownField[]
  readonly value: string
  readonly onChange: (field: string) => void
}

function FieldSelect({ label, fields, value, onChange }: FieldSelectProps) {
  return (
    <Select
      label={label}
      data={fields.map((field) => ({ value: field.name, label: field.label || field.name }))}
      searchable
      required
      withAsterisk={false}
      value={value === '' ? null : value}
      onChange={(field) => {
        if (field !== null) onChange(field)
      }}
    />
  )
}

/** Opens the dialog that asks what a chart or a card shows. */
export function FigureAction({ guid }: { readonly guid: string }) {
  const editor = useEditor()
  return (
    <Button
      size="xs"
      variant="default"
      mt="xs"
      leftSection={<Icon name="data" size={15} />}
      onClick={() => editor.set({ dialog: { kind: 'figure', block: guid } })}
    >
      {figureTexts.setUp}
    </Button>
  )
}
