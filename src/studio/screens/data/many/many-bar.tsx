import { Alert, Button, Group, Progress, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { Document, DocumentSearch, ManyChanged } from '../../../../shared/api/data/documents.ts'
import type { Job } from '../../../../shared/api/operate/queues.ts'
import { isJsonObject } from '../../../../shared/json.ts'
import { call } from '../../../api/request.ts'
import { findDocuments, forgetDocuments } from '../../../api/storages.ts'
import { confirm } from '../../../controls/confirm.ts'
import { Icon } from '../../../controls/icon.tsx'
import { notifyDone, notifyFailed } from '../../../controls/notify.ts'
import { ErrorNotice } from '../../../controls/states.tsx'
import { documentsTexts } from '../../../texts/documents.ts'
import { valueAt } from '../documents/document-shape.ts'
import type { RowSelection } from '../grid/document-grid-props.ts'
import type { GridColumn } from '../grid/grid-column.ts'
import type { UndoStep } from '../undo/undo-step.ts'
import { ChangeManyDialog } from './change-many-dialog.tsx'

/** What of a storage is selected: documents by guid, or all that a search finds. */
interface SelectedDocuments {
  readonly storage: string
  readonly count: number
  readonly guids: ReadonlySet<string>
  /** Given where all are selected that it finds. */
  readonly all: Pick<DocumentSearch, 'query' | 'filters'> | undefined
}

/** So many go in one transaction, all or none. */
const AT_ONCE = 1_000

type ManyWay =
  | { readonly way: 'update'; readonly set: Readonly<Record<string, unknown>> }
  | { readonly way: 'remove'; readonly hard: boolean }

/**
 * Changes them at once, or by a job whose guid is given. `step`: how it is undone, where it is not by a job and the documents are
 * not deleted; they are read before for that.
 */
async function changeMany(
  selected: SelectedDocuments,
  change: ManyWay,
): Promise<{ readonly changed: ManyChanged; readonly step: UndoStep | undefined }> {
  const isHard = change.way === 'remove' && change.hard
  if (isHard || selected.count > AT_ONCE) return { changed: await send(selected, change), step: undefined }
  const documents = await read(selected)
  const guids = new Set(documents.map(({ _meta }) => _meta.guid))
  const changed = await send({ ...selected, guids, all: undefined, count: guids.size }, change)
  return { changed, step: stepOf(documents, change) }
}

function stepOf(documents: readonly Document[], change: ManyWay): UndoStep {
  if (change.way === 'remove') return { kind: 'removed', guids: documents.map(({ _meta }) => _meta.guid) }
  const after = new Map(Object.entries(change.set))
  const changes = documents.map((document) => ({
    guid: document._meta.guid,
    before: new Map([...after.keys()].map((name) => [name, valueAt(document, name)])),
    after,
  }))
  return { kind: 'changed', changes }
}

async function read({ storage, guids, all }: SelectedDocuments): Promise<readonly Document[]> {
  const requested = all ?? { filters: { '_meta.guid': [...guids] } }
  return (await findDocuments(storage, { ...requested, limit: AT_ONCE }, new AbortController().signal))
    .records
}

async function send(selected: SelectedDocuments, change: ManyWay): Promise<ManyChanged> {
  const { storage, guids, all, count } = selected
  const { query, filters = {} } = all ?? {}
  const requested = all ? { filters, ...(query === undefined ? {} : { query }) } : { guids: [...guids] }
  const body = {
    ...requested,
    in_background: all !== undefined && count > AT_ONCE,
    ...(change.way === 'update' ? { set: change.set } : { hard: change.hard, include_removed: change.hard }),
  }
  const changed = await call<ManyChanged>(
    'POST',
    `/_system/storages/${storage}/documents/${change.way}-many`,
    { body },
  )
  await forgetDocuments(storage)
  return changed
}

interface ManyBarProps {
  readonly selection: RowSelection
  readonly selected: SelectedDocuments
  /** How many the list has in all. */
  readonly total: number
  readonly columns: readonly GridColumn[]
  /** The list shows removed documents: they can only be deleted. */
  readonly removed: boolean
  readonly onDone: (step: UndoStep) => void
}

/** What can be done with the selected rows. */
export function ManyBar({ selection, selected, total, columns, removed, onDone }: ManyBarProps) {
  const [isChanging, change] = useDisclosure(false)
  const [job, setJob] = useState('')
  const { count } = selected
  const run = async (way: ManyWay, done: string) => {
    const { changed, step } = await changeMany(selected, way)
    selection.clear()
    if (step) onDone(step)
    if (changed.job === null) notifyDone(`${counted(changed.count)} ${done}`)
    else setJob(changed.job)
  }
  const remove = () =>
    askToRemove(selected, { removed, isAll: selection.isAll }, () =>
      run({ way: 'remove', hard: removed }, removed ? 'deleted' : 'removed'),
    )
  return (
    <>
      {job === '' ? null : <JobProgress job={job} storage={selected.storage} onClose={() => setJob('')} />}
      {count === 0 ? null : (
        <Group mb="sm" gap="sm" role="toolbar" aria-label={documentsTexts.selectedDocuments}>
          <Text size="sm" fw={550} role="status">
            {documentsTexts.selected(counted(count))}
          </Text>
          <SelectAll selection={selection} total={total} />
          {removed ? null : (
            <Button
              size="compact-sm"
              variant="default"
              leftSection={<Icon name="edit" size={14} />}
              onClick={change.open}
            >
              {documentsTexts.changeAField}
            </Button>
          )}
          <Button
            size="compact-sm"
            variant="default"
            leftSection={<Icon name="trash" size={14} />}
            onClick={remove}
          >
            {removed ? documentsTexts.deletePermanentlyLabel : documentsTexts.removeLabel}
          </Button>
          <Button size="compact-sm" variant="subtle" onClick={selection.clear}>
            {documentsTexts.clearSelection}
          </Button>
        </Group>
      )}
      <ChangeManyDialog
        opened={isChanging}
        onClose={change.close}
        title={documentsTexts.changeAFieldOf(counted(count))}
        about={atOnce(count, selection.isAll)}
        columns={columns.filter(({ readOnly }) => !readOnly)}
        submit={(name, value) => run({ way: 'update', set: { [name]: value } }, 'changed')}
      />
    </>
  )
}

/** Beside the rows of this page, where all of them are selected and there are more. */
function SelectAll({ selection, total }: Pick<ManyBarProps, 'selection' | 'total'>) {
  if (selection.here !== 'all' || selection.isAll || total <= selection.guids.size) return null
  return (
    <Button size="compact-sm" variant="subtle" onClick={selection.selectAll}>
      {documentsTexts.selectAll(total.toLocaleString())}
    </Button>
  )
}

interface Removal {
  /** They are removed already: then they are deleted permanently. */
  readonly removed: boolean
  readonly isAll: boolean
}

function askToRemove({ count }: SelectedDocuments, { removed, isAll }: Removal, run: () => Promise<void>) {
  confirm({
    title: removed ? documentsTexts.deletePermanently(counted(count)) : documentsTexts.remove(counted(count)),
    text: removed ? documentsTexts.deleteManyText : documentsTexts.removeManyText(atOnce(count, isAll)),
    action: removed ? documentsTexts.deletePermanentlyLabel : documentsTexts.removeLabel,
    ...(removed || count <= AT_ONCE ? {} : { type: String(count) }),
    run,
  })
}

function counted(count: number): string {
  return documentsTexts.documentCount(count, count.toLocaleString())
}

function atOnce(count: number, isAll: boolean): string {
  return isAll && count > AT_ONCE ? documentsTexts.asJobText : documentsTexts.atOnceText
}

interface JobProgressProps {
  readonly job: string
  readonly storage: string
  readonly onClose: () => void
}

/** How far a job has come that changes many documents. */
function JobProgress({ job, storage, onClose }: JobProgressProps) {
  const { data, error } = useQuery({
    queryKey: ['queues', 'progress', job],
    queryFn: ({ signal }) => call<Job>('GET', `/queue/${job}`, { signal }),
    refetchInterval: (query) => (query.state.data?.progress?.finished === true ? false : 1_000),
    retry: false,
  })
  const progress = data?.progress
  const finished = progress?.finished === true
  useEffect(() => {
    if (finished) void forgetDocuments(storage)
  }, [finished, storage])
  if (error) return <ErrorNotice error={error} title={documentsTexts.progressFailed} />
  const { done = 0, total = 0, changed = 0, refused = 0, problems = [] } = progress ?? {}
  const cancel = () =>
    call('DELETE', `/queue/${job}`).then(onClose, (failed) =>
      notifyFailed(documentsTexts.couldNotCancelJob, failed),
    )
  return (
    <Alert
      mb="sm"
      title={finished ? documentsTexts.theDocumentsAreChanged : documentsTexts.jobChangesDocuments}
      role="status"
    >
      <Progress
        value={finished ? 100 : total === 0 ? 0 : (done / total) * 100}
        aria-label={documentsTexts.progress}
        mb={6}
      />
      <Text size="sm">
        {documentsTexts.changedSoFar(
          changed.toLocaleString(),
          refused,
          refused.toLocaleString(),
          total.toLocaleString(),
        )}
      </Text>
      {problems
        .filter(isJsonObject)
        .slice(0, 5)
        .map((problem) => (
          <Text size="sm" key={String(problem.guid)}>
            {String(problem.guid)}: {String(problem.message)}
          </Text>
        ))}
      <Group justify="flex-end">
        {finished ? null : (
          <Button size="compact-sm" variant="default" onClick={() => void cancel()}>
            {documentsTexts.cancel}
          </Button>
        )}
        <Button size="compact-sm" variant="default" onClick={onClose}>
          {finished ? documentsTexts.close : documentsTexts.hide}
        </Button>
      </Group>
    </Alert>
  )
}
