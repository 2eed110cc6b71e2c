import { Button, Checkbox, Group, Popover, ScrollArea, Stack, Switch, Text } from '@mantine/core'
import { useMemo, useState } from 'react'
import type { Document } from '../../../../shared/api/data/documents.ts'
import type { StorageRecord } from '../../../../shared/api/data/storages.ts'
import { findDocuments } from '../../../api/storages.ts'
import { confirm } from '../../../controls/confirm.ts'
import { Icon } from '../../../controls/icon.tsx'
import { SearchField } from '../../../controls/lists/filters.tsx'
import { useRecordPage } from '../../../controls/lists/use-record-page.ts'
import { EmptyState } from '../../../controls/states.tsx'
import { dataTexts } from '../../../texts/data.ts'
import { documentsTexts } from '../../../texts/documents.ts'
import { fieldsTexts } from '../../../texts/fields.ts'
import { TextIndexAction } from '../advice-drawer.tsx'
import { DocumentGrid } from '../grid/document-grid.tsx'
import { useRowSelection } from '../grid/document-grid-props.ts'
import { gridColumn } from '../grid/grid-column.ts'
import { type CellState, useCellEdits, withValue } from '../grid/use-cell-edits.ts'
import { useReferenceNames } from '../grid/use-reference-names.ts'
import { ManyBar } from '../many/many-bar.tsx'
import { importDocuments, newImport } from '../transfer/import-file.ts'
import { type Undo, useUndo } from '../undo/use-undo.ts'
import { ViewsMenu } from '../views/views-menu.tsx'
import type { ShapeField } from './document-shape.ts'
import { FilterBar } from './filter-bar.tsx'
import { type DocumentList, useDocumentList } from './use-document-list.ts'

/** Rows of a page. */
const LIMIT = 100

interface StorageDocumentsProps {
  readonly storage: StorageRecord
  readonly cells: CellState
}

/** The documents of a storage as a grid, with what narrows it. */
export function StorageDocuments({ storage, cells }: StorageDocumentsProps) {
  const { guid } = storage._meta
  const list = useDocumentList(guid, storage.name)
  const [filtered, setFiltered] = useState<string>()
  const shown = useRecordPage<Document>({
    queryKey: ['documents', guid, 'list'],
    load: (body, signal) => findDocuments(guid, body, signal),
    body: list.body,
    limit: LIMIT,
  })
  const columns = useGridColumns(list)
  const records = shown.data?.records ?? []
  const { query } = shown.address
  const total = shown.data?.total ?? 0
  // Rows of the question before cannot be selected for this one.
  const rows = shown.isPlaceholderData ? [] : records
  const selection = useRowSelection(rows, JSON.stringify([list.body, query]))
  const edits = useCellEdits(guid, shown.key, cells, (act, change) => undo.recordChange(act, change))
  const undo = useUndo(guid, edits.settled)
  const names = useReferenceNames(columns, records)
  return (
    <>
      <Group mb="sm" gap="sm">
        <ViewsMenu storage={guid} />
        <SearchField label={dataTexts.searchAllText} />
        {query === '' ? null : <TextIndexAction storage={guid} />}
        <FilterBar
          fields={list.fields}
          filters={list.filters}
          onChange={list.setFilters}
          opened={filtered}
          onOpen={setFiltered}
        />
        <Group ml="auto" gap="sm">
          <UndoActions undo={undo} />
          <Switch
            label={dataTexts.removedText}
            checked={list.removed}
            onChange={(event) => list.setRemoved(event.currentTarget.checked)}
          />
          <ColumnMenu fields={list.fields} columns={list.columns} onChange={list.setColumns} />
        </Group>
      </Group>
      <ManyBar
        selection={selection}
        selected={{
          storage: guid,
          guids: selection.guids,
          count: selection.isAll ? total : selection.guids.size,
          all: selection.isAll ? { ...list.body, ...(query === '' ? {} : { query }) } : undefined,
        }}
        total={total}
        columns={columns}
        removed={list.removed}
        onDone={undo.record}
      />
      <DocumentGrid
        label={dataTexts.documentsOf(storage.name)}
        shown={shown}
        columns={columns}
        names={names}
        selection={selection}
        edits={edits}
        canWrite={!list.removed}
        hrefOf={(document) => `/data/storages/${guid}/documents/${document}`}
        actions={{
          sort: (name, order) => shown.readdress({ sort: order === 'asc' ? name : `-${name}` }),
          filter: setFiltered,
          hide: (name) => list.setColumns(list.columns.filter((one) => one !== name)),
          resize: list.setWidth,
        }}
        onAppend={(rows, unread) => askToAppend(guid, rows, unread)}
        empty={<NoDocuments isSearch={list.filters.length > 0 || query !== ''} removed={list.removed} />}
      />
    </>
  )
}

function useGridColumns(list: DocumentList) {
  const { columns, records, fields, widths, removed } = list
  return useMemo(() => {
    const known = { fields: records, shape: fields, widths }
    const time = removed ? '_meta.removed' : '_meta.updated'
    return [...new Set([...columns, time])].map((name) => gridColumn(name, known))
  }, [columns, records, fields, widths, removed])
}

function askToAppend(
  storage: string,
  rows: readonly ReadonlyMap<string, unknown>[],
  unread: readonly string[],
): void {
  const documents = rows.map((row) =>
    [...row].reduce((document: object, [name, value]) => withValue(document, name, value), {}),
  )
  // The same for each try: what was created, and the answer lost, is not created twice.
  const id = newImport()
  const many = dataTexts.newDocuments(rows.length, rows.length.toLocaleString())
  confirm({
    title: dataTexts.createTitle(many),
    text: dataTexts.createText(unread),
    action: dataTexts.create,
    run: () => importDocuments(storage, documents, id),
  })
}

function NoDocuments({ isSearch, removed }: { readonly isSearch: boolean; readonly removed: boolean }) {
  if (isSearch) return <EmptyState icon="search" title={dataTexts.noMatch} />
  if (removed) return <EmptyState icon="trash" title={dataTexts.noRemovedDocuments} />
  return (
    <EmptyState icon="data" title={dataTexts.noDocuments}>
      <Text size="sm">{dataTexts.noDocumentsText}</Text>
    </EmptyState>
  )
}

interface ColumnMenuProps {
  readonly fields: readonly ShapeField[]
  readonly columns: readonly string[]
  readonly onChange: (names: readonly string[]) => void
}

/** Which fields are columns. The address remembers it. */
function ColumnMenu({ fields, columns, onChange }: ColumnMenuProps) {
  const names = [...new Set([...fields.map(({ name }) => name), ...columns, '_meta.guid', '_meta.created'])]
  return (
    <Popover position="bottom-end" trapFocus withArrow>
      <Popover.Target>
        <Button variant="default" leftSection={<Icon name="columns" size={16} />}>
          {fieldsTexts.columns}
        </Button>
      </Popover.Target>
      <Popover.Dropdown>
        <ScrollArea.Autosize mah={360}>
          <Stack gap={8} pr="md">
            {names.map((name) => (
              <Checkbox
                key={name}
                label={name}
                checked={columns.includes(name)}
                onChange={(event) =>
                  onChange(
                    event.currentTarget.checked
                      ? names.filter((one) => one === name || columns.includes(one))
                      : columns.filter((one) => one !== name),
                  )
                }
              />
            ))}
          </Stack>
        </ScrollArea.Autosize>
      </Popover.Dropdown>
    </Popover>
  )
}

/** Takes back the last thing that was done here, or does again what was taken back; nothing while there is none. */
function UndoActions({ undo: { next, isRunning, run } }: { readonly undo: Undo }) {
  return (
    <>
      {next.undo === undefined ? null : (
        <Button
          variant="default"
          leftSection={<Icon name="restore" size={16} />}
          loading={isRunning}
          aria-label={documentsTexts.undoStep(next.undo)}
          title={documentsTexts.undoStepKey(next.undo)}
          onClick={() => run('undo')}
        >
          {documentsTexts.undo}
        </Button>
      )}
      {next.redo === undefined ? null : (
        <Button
          variant="default"
          leftSection={<Icon name="refresh" size={16} />}
          loading={isRunning}
          aria-label={documentsTexts.redoStep(next.redo)}
          title={documentsTexts.redoStepKey(next.redo)}
          onClick={() => run('redo')}
        >
          {documentsTexts.redo}
        </Button>
      )}
    </>
  )
}
