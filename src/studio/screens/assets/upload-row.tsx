import { CloseButton, Group, Progress, Text } from '@mantine/core'
import { messageOf } from '../../api/api-error.ts'
import { bytes } from '../../controls/amounts.ts'
import { assetsTexts } from '../../texts/assets.ts'
import type { RunningUpload } from './use-uploads.ts'

interface UploadRowProps {
  readonly upload: RunningUpload
  readonly onCancel: () => void
  readonly onDismiss: () => void
}

export function UploadRow({ upload, onCancel, onDismiss }: UploadRowProps) {
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
