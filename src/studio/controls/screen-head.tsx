import { CloseButton, Group, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { Icon } from './icon.tsx'
import classes from './screen-head.module.css'

interface ScreenHeadProps {
  readonly title: ReactNode
  /** One sentence on what this is. */
  readonly about?: ReactNode
  /** Where this is inside. */
  readonly parent?: { readonly href: string; readonly label: string }
  readonly children?: ReactNode
}

/** The title of a screen, with its actions on the right. */
export function ScreenHead({ title, about, parent, children }: ScreenHeadProps) {
  return (
    <header className={classes.head}>
      <div className={classes.words}>
        {parent === undefined ? null : (
          <Link href={parent.href} className={classes.parent}>
            <Icon name="chevron" size={12} />
            {parent.label}
          </Link>
        )}
        <Title order={1}>{title}</Title>
        {about === undefined ? null : (
          <Text size="sm" c="dimmed" mt={2} maw="70ch">
            {about}
          </Text>
        )}
      </div>
      <Group gap="xs">{children}</Group>
    </header>
  )
}

interface PanelHeadProps {
  readonly title: string
  /** Says what the button closes. */
  readonly close: string
  readonly onClose: () => void
}

/** The title of a panel beside the canvas. */
export function PanelHead({ title, close, onClose }: PanelHeadProps) {
  return (
    <Group justify="space-between" wrap="nowrap">
      <Text fw={650}>{title}</Text>
      <CloseButton size="sm" aria-label={close} onClick={onClose} />
    </Group>
  )
}
