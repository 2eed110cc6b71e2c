import {
  type CSSVariablesResolver,
  createTheme,
  type MantineColorsTuple,
  type MantineThemeOverride,
} from '@mantine/core'
import { controlsTexts } from '../texts/shell.ts'
import { typedListProps, typedSelectProps } from './typed-select.ts'

/** Petrol: from shade 7 on white text is readable on it (5.7 : 1), up to shade 3 it is readable on dark ground. */
const petrol: MantineColorsTuple = [
  '#eef7f7',
  '#d9ecec',
  '#b0d8d9',
  '#83c2c4',
  '#5eb0b3',
  '#459fa3',
  '#2f8a8f',
  '#1f7176',
  '#155a5f',
  '#0b4347',
]

/** Sandstone, for what wants to be noticed and is no problem. */
const sand: MantineColorsTuple = [
  '#fbf5ec',
  '#f3e7d3',
  '#e8cfa6',
  '#dcb475',
  '#d29d4d',
  '#c98a3d',
  '#a96f29',
  '#87581f',
  '#6b4517',
  '#4f320f',
]

/** Mantine's own green and red are louder than anything here should be, and too pale for small text. */
const green: MantineColorsTuple = [
  '#eff6f1',
  '#dceee2',
  '#b9dcc5',
  '#8fc5a2',
  '#66ad80',
  '#479566',
  '#327d51',
  '#256a42',
  '#1b5534',
  '#134026',
]

const red: MantineColorsTuple = [
  '#fdf1f0',
  '#fae0de',
  '#f3bdb9',
  '#ea938d',
  '#df6a62',
  '#d2483f',
  '#bf3128',
  '#a5231b',
  '#881a14',
  '#65120d',
]

const dark: MantineColorsTuple = [
  '#d7dbe0',
  '#b8bec6',
  '#98a0aa',
  '#6b747f',
  '#3b434d',
  '#2c333b',
  '#22282f',
  '#191e24',
  '#13171c',
  '#0d1014',
]

const gray: MantineColorsTuple = [
  '#f8f9f9',
  '#f1f3f3',
  '#e6e9ea',
  '#d9dddf',
  '#c6ccd0',
  '#9aa3a9',
  '#6d777e',
  '#4d565d',
  '#343b41',
  '#20262b',
]

export const theme: MantineThemeOverride = createTheme({
  primaryColor: 'petrol',
  primaryShade: { light: 7, dark: 7 },
  colors: { petrol, sand, green, red, dark, gray },
  defaultRadius: 'md',
  radius: { xs: '3px', sm: '4px', md: '6px', lg: '10px', xl: '16px' },
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", Ubuntu, sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", "Cascadia Code", Menlo, "DejaVu Sans Mono", monospace',
  headings: { fontWeight: '600', sizes: { h1: { fontSize: '1.5rem' }, h2: { fontSize: '1.125rem' } } },
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Tooltip: { defaultProps: { openDelay: 400, withArrow: true } },
    // Inside a dialog a header is no banner of the page.
    ModalHeader: { defaultProps: { role: 'presentation' } },
    DrawerHeader: { defaultProps: { role: 'presentation' } },
    Modal: {
      defaultProps: {
        centered: true,
        closeButtonProps: { 'aria-label': controlsTexts.close },
        overlayProps: { backgroundOpacity: 0.4 },
        // Without a frame in which there is a dialog and no field yet: what is typed then would be lost.
        transitionProps: { duration: 0 },
      },
      styles: { title: { fontWeight: 600, fontSize: '1.05rem' } },
    },
    Drawer: {
      defaultProps: {
        position: 'right',
        closeButtonProps: { 'aria-label': controlsTexts.close },
        size: 'lg',
        overlayProps: { backgroundOpacity: 0.25 },
      },
      styles: { title: { fontWeight: 600, fontSize: '1.05rem' } },
    },
    Notification: { defaultProps: { closeButtonProps: { 'aria-label': controlsTexts.close } } },
    // What opens belongs to a landmark too, and nothing but items is in a menu: the keyboard goes to the menu itself.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false, portalProps: { target: '#main' } } },
    // What is chosen is taken away by its button only: Enter on it chooses it again.
    Select: { defaultProps: { ...typedSelectProps, allowDeselect: false } },
    MultiSelect: { defaultProps: typedListProps },
    Table: { defaultProps: { verticalSpacing: 7, horizontalSpacing: 'sm' } },
    Badge: {
      defaultProps: { variant: 'light', tt: 'none', radius: 'sm' },
      // In a table the column makes room for it, instead of cutting it.
      styles: { root: { flex: 'none', maxWidth: 'none' } },
    },
  },
})

/** Mantine's own dimmed text and placeholders have 3.3 : 1 on white; these have more than 4.5 : 1 on every ground of ours. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: { '--studio-header': '52px', '--studio-navbar': '208px' },
  light: {
    '--mantine-color-body': '#ffffff',
    '--studio-ground': '#f6f8f8',
    '--studio-line': '#e1e6e7',
    '--studio-raised': '#ffffff',
    '--mantine-color-dimmed': '#58636a',
    '--mantine-color-placeholder': '#667178',
    '--mantine-color-anchor': '#155a5f',
    '--mantine-color-error': '#b3261e',
  },
  dark: {
    '--mantine-color-body': '#1d2229',
    '--studio-ground': '#14181d',
    '--studio-line': '#2f363f',
    '--studio-raised': '#1d2229',
    '--mantine-color-dimmed': '#a0a8b2',
    '--mantine-color-placeholder': '#8f98a3',
    '--mantine-color-anchor': '#83c2c4',
    '--mantine-color-error': '#ff9b93',
  },
})
