import { Button } from '@mantine/core'
import { useState } from 'react'
import { send } from '../../api/request.ts'
import { bytes } from '../../controls/amounts.ts'
import { Icon } from '../../controls/icon.tsx'
import { notifyFailed } from '../../controls/notify.ts'
import { fileName, saveFile } from '../../controls/save-file.ts'

/** All documents of a storage as a file; the button says how much has come. */
export function ExportDocuments({ storage, name }: { readonly storage: string; readonly name: string }) {
  const [read, setRead] = useState<number>()
  const run = async () => {
    setRead(0)
    try {
      const reply = await send('GET', `/_system/storages/${storage}/documents/export`)
      const parts: Uint8Array<ArrayBuffer>[] = []
      let size = 0
      for await (const part of reply.body ?? []) {
        parts.push(part)
        size += part.length
        setRead(size)
      }
      saveFile(fileName(name, 'ndjson'), new Blob(parts, { type: 'application/x-ndjson' }))
    } catch (error) {
      notifyFailed('Could not export the documents', error)
    } finally {
      setRead(undefined)
    }
  }
  return (
    <Button
      variant="default"
      leftSection={<Icon name="download" size={16} />}
      disabled={read !== undefined}
      onClick={() => void run()}
    >
      {read === undefined ? 'Export' : bytes(read)}
    </Button>
  )
}
