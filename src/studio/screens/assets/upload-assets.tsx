import { Autocomplete, Button, CloseButton, FileButton, Group, Progress, Text } from '@mantine/core'
import { type DragEvent, useEffect, useRef, useState } from 'react'
import { messageOf } from '../../api/api-error.ts'
import { forgetAssets } from '../../api/assets.ts'
import { upload } from '../../api/upload.ts'
import { bytes } from '../../controls/amounts.ts'
import { Icon } from '../../controls/icon.tsx'
import { notifyDone } from '../../controls/notify.ts'
import { assetsTexts } from '../../texts/documents.ts'
import classes from './upload-assets.module.css'

/** Takes files that are dropped or chosen, and shows how far each is. */
export function UploadAssets() {
  const [directory, setDirectory] = useState('system_assets')
  const [isOver, setOver] = useState(false)
  const { uploads, add, cancel, dismiss } = useUploads()
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setOver(false)
    add([...event.dataTransfer.files], directory)
  }
  return (
    <section
      aria-label={assetsTexts.upload}
      className={classes.zone}
      data-over={isOver || undefined}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <Group justify="space-between" gap="sm">
        <Group gap="sm">
          <Icon name="upload" />
          <Text size="sm">{assetsTexts.dropFiles}</Text>
        </Group>
        <Group gap="xs">
          <Autocomplete
            aria-label={assetsTexts.directoryForNewFiles}
            leftSection={<Text size="sm">{assetsTexts.into}</Text>}
            leftSectionWidth={46}
            data={['system_assets', 'public', 'public/images']}
            value={directory}
            onChange={setDirectory}
            w={200}
          />
          <FileButton multiple onChange={(files) => add(files, directory)}>
            {(props) => (
              <Button variant="default" {...props}>
                {assetsTexts.chooseFiles}
              </Button>
            )}
          </FileButton>
        </Group>
      </Group>
      {uploads.map((one) => (
        <UploadRow
          key={one.id}
          upload={one}
          onCancel={() => cancel(one.id)}
          onDismiss={() => dismiss(one.id)}
        />
      ))}
    </section>
  )
}

interface UploadRowProps {
  readonly upload: RunningUpload
  readonly onCancel: () => void
  readonly onDismiss: () => void
}

function UploadRow({ upload, onCancel, onDismiss }: UploadRowProps) {
  const { name, size, share, error } = upload
  const hasFailed = error !== undefined
  return (
    <Group gap="sm" mt="xs" wrap="nowrap">
      <Text size="sm" w={220} truncate>
        {name}
      </Text>
      {hasFailed ? (
        <Text size="sm" c="red" flex={1} role="alert">
          {messageOf(error)}
        </Text>
      ) : (
        <Progress
          value={share * 100}
          animated={share === 1}
          flex={1}
          aria-label={assetsTexts.uploading(name)}
        />
      )}
      <Text size="xs" c="dimmed" w={110} ta="right" className="numbers">
        {hasFailed ? bytes(size) : assetsTexts.share(Math.round(share * 100), bytes(size))}
      </Text>
      <CloseButton
        size="sm"
        aria-label={hasFailed ? assetsTexts.dismiss(name) : assetsTexts.cancel(name)}
        onClick={hasFailed ? onDismiss : onCancel}
      />
    </Group>
  )
}

interface RunningUpload {
  readonly id: string
  readonly name: string
  readonly size: number
  /** 0 to 1. */
  readonly share: number
  readonly error?: unknown
}

/** Files on their way, one after the other; one that is done goes, one that failed stays until it was read. */
function useUploads() {
  const [uploads, setUploads] = useState<readonly RunningUpload[]>([])
  const stops = useRef(new Map<string, AbortController>())
  const last = useRef<Promise<void>>(Promise.resolve())
  useEffect(() => {
    const running = stops.current
    return () => {
      for (const stop of running.values()) stop.abort()
    }
  }, [])
  const change = (id: string, part: Partial<RunningUpload>) =>
    setUploads((all) => all.map((one) => (one.id === id ? { ...one, ...part } : one)))
  const dismiss = (id: string) => setUploads((all) => all.filter((one) => one.id !== id))

  const sendOne = async (id: string, file: File, directory: string, signal: AbortSignal) => {
    if (signal.aborted) return
    const body = new FormData()
    body.set('file', file)
    try {
      await upload({
        path: '/_system/assets/stream',
        query: { directory, filename: file.name },
        body,
        signal,
        onProgress: (share) => change(id, { share }),
      })
      dismiss(id)
      notifyDone(assetsTexts.uploadedText(file.name))
      await forgetAssets()
    } catch (error) {
      if (signal.aborted) dismiss(id)
      else change(id, { error })
    } finally {
      stops.current.delete(id)
    }
  }

  return {
    uploads,
    dismiss,
    cancel: (id: string) => {
      stops.current.get(id)?.abort()
      dismiss(id)
    },
    add: (files: readonly File[], directory: string) => {
      for (const file of files) {
        const id = crypto.randomUUID()
        const stop = new AbortController()
        stops.current.set(id, stop)
        setUploads((all) => [...all, { id, name: file.name, size: file.size, share: 0 }])
        last.current = last.current.then(() => sendOne(id, file, directory, stop.signal))
      }
    },
  }
}
