import {
  Button,
  FileInput,
  Group,
  Modal,
  Progress,
  SegmentedControl,
  Stack,
  Switch,
  Text,
} from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import type { StorageRecord } from '../../../../shared/api/data/storages.ts'
import { CSV } from '../../../../shared/files/table-types.ts'
import { ErrorNotice } from '../../../controls/error-notice.tsx'
import { sameFileAgain } from '../../../controls/same-file-again.ts'
import { transferTexts } from '../../../texts/transfer.ts'
import { type ImportDraft, importFile, previewImport, typeOf } from './import-file.ts'
import { ImportPreviewTable } from './import-preview-table.tsx'
import { ImportResult } from './import-result.tsx'
import { LineProblems, problemsIn } from './line-problems.tsx'

interface ImportDocumentsProps {
  readonly opened: boolean
  readonly onClose: () => void
  readonly storage: StorageRecord
}

/** A file, what its first rows become, and where its columns go; then the import, and what can be undone of it. */
export function ImportDocumentsDialog({ opened, onClose, storage }: ImportDocumentsProps) {
  return (
    <Modal opened={opened} onClose={onClose} title={transferTexts.importDocuments} size="xl">
      <ImportForm storage={storage} onClose={onClose} />
    </Modal>
  )
}

function ImportForm({ storage, onClose }: Omit<ImportDocumentsProps, 'opened'>) {
  const { guid } = storage._meta
  const [file, setFile] = useState<File | null>(null)
  const [mapping, setMapping] = useState<ImportDraft['mapping']>({})
  const [decimal, setDecimal] = useState<ImportDraft['decimal']>('point')
  const [skipInvalid, setSkip] = useState(false)
  const [share, setShare] = useState<number>()
  const running = useRef(new AbortController())
  const send = useMutation({
    mutationFn: (draft: ImportDraft) => {
      running.current = new AbortController()
      return importFile(draft, setShare, running.current.signal)
    },
    onSettled: () => setShare(undefined),
  })
  const preview = usePreview({ storage: guid, file, mapping, decimal })
  if (send.data) return <ImportResult storage={guid} result={send.data} onClose={onClose} />
  const cancel = () => {
    running.current.abort()
    onClose()
  }
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
        onChange={(chosen) => {
          setFile(chosen)
          setMapping({})
          send.reset()
        }}
      />
      {file && typeOf(file) === CSV ? <DecimalMark value={decimal} onChange={setDecimal} /> : null}
      <ErrorNotice error={preview.error} title={transferTexts.fileCannotRead} />
      {preview.data ? (
        <ImportPreviewTable
          storage={storage.name}
          preview={preview.data}
          mapping={mapping}
          onMap={(column, field) => setMapping({ ...mapping, [column]: field })}
        />
      ) : null}
      <Switch
        label={transferTexts.skipLinesRefused}
        description={transferTexts.skipLinesRefusedHelp}
        checked={skipInvalid}
        onChange={(event) => setSkip(event.currentTarget.checked)}
      />
      {send.error ? (
        <>
          <ErrorNotice error={send.error} title={transferTexts.nothingWasImported} />
          <LineProblems problems={problemsIn(send.error)} />
        </>
      ) : null}
      <Sending share={share} />
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={cancel}>
          {transferTexts.cancel}
        </Button>
        <Button
          loading={send.isPending}
          disabled={file === null}
          onClick={() => file && send.mutate({ storage: guid, file, mapping, decimal, skipInvalid })}
        >
          {transferTexts.import}
        </Button>
      </Group>
    </Stack>
  )
}

interface Previewed {
  readonly storage: string
  readonly file: File | null
  readonly mapping: ImportDraft['mapping']
  readonly decimal: ImportDraft['decimal']
}

function usePreview({ storage, file, mapping, decimal }: Previewed) {
  return useQuery({
    queryKey: ['documents', storage, 'preview', file?.name, file?.size, file?.lastModified, mapping, decimal],
    queryFn: ({ signal }) =>
      previewImport({ storage, file: file ?? new File([], ''), mapping, decimal }, signal),
    enabled: file !== null,
    placeholderData: (before) => (file === null ? undefined : before),
    retry: false,
    gcTime: 0,
  })
}

function DecimalMark({
  value,
  onChange,
}: {
  readonly value: ImportDraft['decimal']
  readonly onChange: (mark: ImportDraft['decimal']) => void
}) {
  return (
    <Group gap="sm">
      <Text size="sm" fw={500} id="decimal-mark">
        {transferTexts.numbers}
      </Text>
      <SegmentedControl
        aria-labelledby="decimal-mark"
        size="xs"
        value={value}
        onChange={(mark) => onChange(mark === 'comma' ? 'comma' : 'point')}
        data={[
          { value: 'point', label: '1,234.5' },
          { value: 'comma', label: '1.234,5' },
        ]}
      />
    </Group>
  )
}

function Sending({ share }: { readonly share: number | undefined }) {
  if (share === undefined) return null
  return (
    <div>
      <Progress value={share * 100} animated={share === 1} aria-label={transferTexts.importing} />
      <Text size="xs" c="dimmed" role="status">
        {transferTexts.sent(share, Math.round(share * 100))}
      </Text>
    </div>
  )
}
