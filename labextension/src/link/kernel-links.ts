import type { Kernel } from '@jupyterlab/services';
import { KernelLink, type Sink } from './kernel-link';

export { KernelLink, type Sink } from './kernel-link';

/** The links of this page: one for each kernel, however many documents and connections show it. */
export class KernelLinks {
  private readonly links = new Map<string, KernelLink>();

  constructor(private readonly makeSink: (kernelId: string) => Sink) {}

  /** The link of the kernel that this is a connection to; to be called for every connection as soon as there is one. */
  follow(kernel: Kernel.IKernelConnection): KernelLink {
    let link = this.links.get(kernel.id);
    if (!link) {
      link = new KernelLink(kernel.id, this.makeSink(kernel.id), () => this.links.delete(kernel.id));
      this.links.set(kernel.id, link);
    }
    link.connect(kernel);
    return link;
  }
}
