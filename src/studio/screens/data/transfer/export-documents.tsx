import { Button, Menu } from '@mantine/core'
import { useState } from 'react'
import { send } from '../../../api/request.ts'
import { bytes } from '../../../controls/amounts.ts'
import { Icon } from '../../../controls/icon.tsx'
import { notifyFailed } from '../../../controls/notify.ts'
import { fileName, saveFile } from '../../../controls/save-file.ts'
import { transferTexts } from '../../../texts/transfer.ts'

interface ExportProps {
  readonly storage: string
  readonly name: string
  /** What of it is listed, as the API takes it: `filters`, `query`, `sort` and `columns`. */
  readonly listed: Readonly<Record<string, string>>
}

/** The listed documents as a file; the button says how much has come. */
export function ExportDocuments({ storage, name, listed }: ExportProps) {
  const [read, setRead] = useState<number>()
  const run = async (format: 'csv' | 'xlsx' | 'ndjson') => {
    setRead(0)
    try {
      const { columns, ...search } = listed
      const isTable = format !== 'ndjson'
      const query = {
        ...search,
        ...(isTable && { references: 'name' }),
        ...(isTable && columns !== undefined && { columns }),
      }
      const reply = await send('GET', `/_system/storages/${storage}/documents/export`, {
        query: { ...query, format },
      })
      const parts: Uint8Array<ArrayBuffer>[] = []
      let size = 0
      for await (const part of reply.body ?? []) {
        parts.push(part)
        size += part.length
        setRead(size)
      }
      saveFile(fileName(name, format), new Blob(parts, { type: reply.headers.get('content-type') ?? '' }))
    } catch (error) {
      notifyFailed(transferTexts.couldNotExportDocuments, error)
    } finally {
      setRead(undefined)
    }
  }
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button
          variant="default"
          leftSection={<Icon name="download" size={16} />}
          disabled={read !== undefined}
        >
          {read === undefined ? transferTexts.export : bytes(read)}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={() => void run('csv')}>{transferTexts.csv}</Menu.Item>
        <Menu.Item onClick={() => void run('xlsx')}>{transferTexts.xlsx}</Menu.Item>
        <Menu.Item onClick={() => void run('ndjson')}>{transferTexts.ndjson}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}
