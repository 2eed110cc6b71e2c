import { Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Icon, type IconName } from './icon.tsx'

interface EmptyStateProps {
  readonly icon: IconName
  readonly title: string
  /** What it would be for, and how to begin. */
  readonly children?: ReactNode
}

export function EmptyState({ icon, title, children }: EmptyStateProps) {
  return (
    <Stack align="center" gap={6} ta="center" py="md">
      <Icon name={icon} size={30} />
      <Text fw={600} c="var(--mantine-color-text)">
        {title}
      </Text>
      <Stack align="center" gap="sm" maw={460} fz="sm" c="dimmed" style={{ textWrap: 'balance' }}>
        {children}
      </Stack>
    </Stack>
  )
}
