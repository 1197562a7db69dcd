import {
  type Component,
  type Focusable,
  fuzzyFilter,
  Input,
  matchesKey,
  type SelectItem,
  SelectList,
} from '@mariozechner/pi-tui'
import { fit, wrap } from '../cards/fit.ts'
import { selectTheme, type Theme } from '../theme.ts'

export interface PickerOptions {
  readonly title: string
  readonly items: readonly SelectItem[]
  readonly theme: Theme
  /** Lines shown under the list for the selected item. */
  readonly preview?: (item: SelectItem) => string
  readonly done: (item: SelectItem | undefined) => void
}

/** A list with a search field and a preview: sessions, models, levels. */
export class Picker implements Component, Focusable {
  focused = false
  private readonly options: PickerOptions
  private readonly search = new Input()
  private list: SelectList
  constructor(options: PickerOptions) {
    this.options = options
    this.search.focused = true
    this.list = this.makeList(options.items)
  }

  private makeList(items: readonly SelectItem[]): SelectList {
    const list = new SelectList([...items], 10, selectTheme(this.options.theme))
    list.onSelect = (item) => this.options.done(item)
    list.onCancel = () => this.options.done(undefined)
    return list
  }

  invalidate(): void {
    this.list.invalidate()
    this.search.invalidate()
  }

  handleInput(data: string): void {
    const isListKey = (['up', 'down', 'pageUp', 'pageDown', 'enter', 'escape', 'ctrl+c'] as const).some((key) =>
      matchesKey(data, key),
    )
    if (isListKey) {
      this.list.handleInput(data)
      return
    }
    const before = this.search.getValue()
    this.search.handleInput(data)
    const query = this.search.getValue()
    if (query !== before)
      this.list = this.makeList(
        fuzzyFilter([...this.options.items], query, (item) => `${item.label} ${item.description ?? ''} ${item.value}`),
      )
  }

  render(width: number): string[] {
    const { theme, title } = this.options
    const selected = this.list.getSelectedItem()
    const preview =
      selected === null || this.options.preview === undefined
        ? []
        : wrap(this.options.preview(selected), width - 4).slice(0, 6)
    return fit(
      [
        theme.dim('─'.repeat(width)),
        theme.bold(title),
        ...this.search.render(width),
        ...(selected === null ? [theme.dim('  nothing matches')] : this.list.render(width)),
        ...preview.map((line) => theme.dim(`  ${line}`)),
        theme.dim('↑↓ choose · type to search · Enter takes it · Esc leaves'),
        theme.dim('─'.repeat(width)),
      ],
      width,
    )
  }
}
