import { Button, FileInput, Group, Modal, Stack, Switch, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import type { StorageRecord } from '../../../../shared/api/data/storages.ts'
import { ApiError } from '../../../api/api-error.ts'
import footClasses from '../../../controls/dialog-foot.module.css'
import { sameFileAgain } from '../../../controls/save-file.ts'
import { ErrorNotice } from '../../../controls/states.tsx'
import { transferTexts } from '../../../texts/documents.ts'
import { type FileReading, openColumns, previewImport } from './import-file.ts'
import { ImportPreviewTable } from './import-preview-table.tsx'
import { ImportResult, SendError, Sending } from './import-result.tsx'
import { beginImport, dismissImport, useSavedImport } from './saved-imports.ts'
import { WrongLinesForm } from './wrong-lines-form.tsx'

interface ImportDocumentsProps {
  readonly opened: boolean
  readonly onClose: () => void
  readonly storage: StorageRecord
}

/** A file, how it is read, and what its first rows become; then its wrong lines, and what can be undone of the import. */
export function ImportDocumentsDialog({ opened, onClose, storage }: ImportDocumentsProps) {
  const { guid } = storage._meta
  const saved = useSavedImport(guid)
  const isDone = saved !== undefined && !saved.isPending && saved.lines.length === 0
  const [chosen, setChosen] = useState(nothing)
  const close = () => {
    if (isDone) dismissImport(guid)
    setChosen(nothing)
    onClose()
  }
  return (
    <Modal opened={opened} onClose={close} title={transferTexts.importDocuments} size="xl">
      {saved === undefined ? (
        <ImportForm storage={storage} chosen={chosen} onChoose={setChosen} onClose={close} />
      ) : isDone ? (
        <ImportResult saved={saved} onClose={close} />
      ) : (
        <WrongLinesForm saved={saved} storage={storage.name} onClose={close} />
      )}
    </Modal>
  )
}

const unread: FileReading = { mapping: {}, formats: {} }

interface Chosen {
  readonly file: File | null
  readonly reading: FileReading
}

const nothing: Chosen = { file: null, reading: unread }

interface ImportFormProps extends Omit<ImportDocumentsProps, 'opened'> {
  /** Stays while the refused lines are shown, so that the file can be read otherwise. */
  readonly chosen: Chosen
  readonly onChoose: (chosen: Chosen) => void
}

function ImportForm({ storage, chosen, onChoose, onClose }: ImportFormProps) {
  const { guid } = storage._meta
  const { file, reading } = chosen
  const [skip, setSkip] = useState(false)
  const preview = usePreview(guid, file, reading)
  const { share, send, cancel } = useSending(skip)
  const open = preview.data ? openColumns(preview.data, reading) : []
  return (
    <Stack gap="md">
      <FileInput
        label={transferTexts.file}
        description={transferTexts.fileHelp}
        placeholder={transferTexts.chooseAFile}
        accept=".csv,.tsv,.xlsx,.ndjson,.jsonl,text/csv,application/x-ndjson"
        required
        fileInputProps={sameFileAgain}
        value={file}
        onChange={(next) => {
          onChoose({ file: next, reading: unread })
          send.reset()
        }}
      />
      <PreviewError error={preview.error} onRetry={preview.refetch} />
      {preview.data ? (
        <ImportPreviewTable
          storage={storage.name}
          preview={preview.data}
          reading={reading}
          onRead={(next) => {
            onChoose({ file, reading: next })
            send.reset()
          }}
        />
      ) : null}
      <Switch
        label={transferTexts.skipLinesRefused}
        description={transferTexts.skipLinesRefusedHelp}
        checked={skip}
        onChange={(event) => setSkip(event.currentTarget.checked)}
      />
      <SendError error={send.error} otherwise={transferTexts.nothingWasImported} />
      <Sending share={share} />
      <Group justify="flex-end" gap="xs" className={footClasses.foot}>
        {open.length > 0 ? (
          <Text size="sm" role="status">
            {transferTexts.chooseFormats(open.join(', '))}
          </Text>
        ) : null}
        <Button
          variant="default"
          onClick={() => {
            cancel()
            onClose()
          }}
        >
          {transferTexts.cancel}
        </Button>
        <Button
          loading={send.isPending}
          disabled={!file || !preview.data || preview.isPlaceholderData || open.length > 0}
          onClick={() => {
            if (file && preview.data) send.mutate({ storage: guid, file, reading, preview: preview.data })
          }}
        >
          {transferTexts.import}
        </Button>
      </Group>
    </Stack>
  )
}

interface PreviewErrorProps {
  readonly error: unknown
  readonly onRetry: () => unknown
}

/** The file is not to blame where no server has looked at it. */
function PreviewError({ error, onRetry }: PreviewErrorProps) {
  const isAway = error instanceof ApiError && (error.status === 0 || error.status >= 500)
  return isAway ? (
    <ErrorNotice error={error} title={transferTexts.noPreview} onRetry={onRetry} />
  ) : (
    <ErrorNotice error={error} title={transferTexts.fileCannotRead} />
  )
}

function useSending(skip: boolean) {
  const [share, setShare] = useState<number>()
  const running = useRef(new AbortController())
  const send = useMutation({
    mutationFn: (draft: Parameters<typeof beginImport>[0]) => {
      running.current = new AbortController()
      return beginImport(draft, skip, { onProgress: setShare, signal: running.current.signal })
    },
    onSettled: () => setShare(undefined),
  })
  return { share, send, cancel: () => running.current.abort() }
}

function usePreview(storage: string, file: File | null, reading: FileReading) {
  return useQuery({
    queryKey: ['documents', storage, 'preview', file?.name, file?.size, file?.lastModified, reading],
    queryFn: ({ signal }) => previewImport({ storage, file: file ?? new File([], ''), reading }, signal),
    enabled: file !== null,
    placeholderData: (before, query) => (query?.queryKey[3] === file?.name ? before : undefined),
    retry: false,
    gcTime: 0,
  })
}
