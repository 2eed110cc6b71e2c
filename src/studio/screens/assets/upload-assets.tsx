import { Autocomplete, Button, FileButton, Group, Text } from '@mantine/core'
import { type DragEvent, useState } from 'react'
import { Icon } from '../../controls/icon.tsx'
import { assetsTexts } from '../../texts/assets.ts'
import classes from './upload-assets.module.css'
import { UploadRow } from './upload-row.tsx'
import { useUploads } from './use-uploads.ts'

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
