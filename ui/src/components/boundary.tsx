// What breaks in one panel stays in it.

import { Component, type ComponentChildren } from "preact";

interface Props {
  title: string;
  children: ComponentChildren;
}

export class ErrorBoundary extends Component<Props, { message: string | null }> {
  override state = { message: null as string | null };

  static override getDerivedStateFromError(error: unknown) {
    return { message: error instanceof Error ? error.message : String(error) };
  }

  override render() {
    const { message } = this.state;
    if (message === null) return this.props.children;
    return (
      <div class="failed" role="alert">
        <p>
          {this.props.title} cannot be shown: {message}
        </p>
        <button type="button" onClick={() => this.setState({ message: null })}>
          Try again
        </button>
      </div>
    );
  }
}
