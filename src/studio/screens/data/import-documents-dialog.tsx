import { FileInput, Progress, Text } from '@mantine/core'
import { useEffect, useRef, useState } from 'react'
import { forgetDocuments } from '../../api/storages.ts'
import { upload } from '../../api/upload.ts'
import { FormDialog } from '../../controls/form-dialog.tsx'
import { notifyDone } from '../../controls/notify.ts'

interface ImportDocumentsProps {
  readonly opened: boolean
  readonly onClose: () => void
  readonly storage: string
}

/** Takes a file with one JSON document a line: all of it or, with the line that is wrong, nothing. */
export function ImportDocumentsDialog({ opened, onClose, storage }: ImportDocumentsProps) {
  const [file, setFile] = useState<File | null>(null)
  const [share, setShare] = useState<number>()
  const running = useRef(new AbortController())
  useEffect(() => {
    if (!opened) running.current.abort()
  }, [opened])
  const submit = async () => {
    if (file === null) throw new Error('Choose a file first.')
    running.current = new AbortController()
    try {
      const { imported } = await upload<{ imported: number }>({
        path: `/_system/storages/${storage}/documents/import`,
        body: file,
        type: 'application/x-ndjson',
        onProgress: setShare,
        signal: running.current.signal,
      })
      notifyDone(`${imported.toLocaleString()} documents imported`)
    } finally {
      setShare(undefined)
      await forgetDocuments(storage)
    }
  }
  return (
    <FormDialog opened={opened} onClose={onClose} title="Import documents" action="Import" submit={submit}>
      <FileInput
        label="File"
        description="NDJSON: one JSON document per line, as written by Export."
        placeholder="Choose a file"
        accept=".ndjson,.jsonl,application/x-ndjson"
        required
        value={file}
        onChange={setFile}
      />
      <Text size="sm" c="dimmed">
        All or nothing: an invalid line is reported, and no document is imported.
      </Text>
      {share === undefined ? null : (
        <>
          <Progress value={share * 100} animated={share === 1} aria-label="Importing" />
          <Text size="xs" c="dimmed" role="status">
            {share < 1 ? `${Math.round(share * 100)} % sent` : 'Sent. The server is storing it …'}
          </Text>
        </>
      )}
    </FormDialog>
  )
}
